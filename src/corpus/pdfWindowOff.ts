/** Takes away what pdfWindowOn.ts made. */
if (Reflect.has(globalThis, "pdfWindow")) {
  Reflect.deleteProperty(globalThis, "pdfWindow");
  Reflect.deleteProperty(globalThis, "window");
}
