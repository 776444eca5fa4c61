/** pdf.js's worker module in this thread, whatever thread that is, without its habit of talking. The order matters. */
import "./pdfWindowOn";
import "pdfjs-dist/legacy/build/pdf.worker.mjs";
import "./pdfWindowOff";
