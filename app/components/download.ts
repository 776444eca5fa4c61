/** Saves a file from the page. */
export function download(name: string, content: BlobPart | BlobPart[], type: string): void {
  const blob = new Blob(Array.isArray(content) ? content : [content], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
