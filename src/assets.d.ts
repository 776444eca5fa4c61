/** Files that the bundler hands over as text: shaders, and fixtures of tests. */
declare module "*.wgsl?raw" {
  const text: string;
  export default text;
}

declare module "*?raw" {
  const text: string;
  export default text;
}
