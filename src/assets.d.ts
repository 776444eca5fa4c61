/** Files that the bundler hands over as text (shaders, fixtures of tests), or copies and tells the URL of. */
declare module "*.wgsl?raw" {
  const text: string;
  export default text;
}

declare module "*?url" {
  const url: string;
  export default url;
}

declare module "*?raw" {
  const text: string;
  export default text;
}

/** Has no types of its own; only loaded, so that pdf.js finds its worker in this thread. */
declare module "pdfjs-dist/legacy/build/pdf.worker.mjs";
