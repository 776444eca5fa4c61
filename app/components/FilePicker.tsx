/** Opens the browser's file dialog from any button. */
import { type ReactNode, useRef } from "react";

interface FilePickerProps {
  accept: string;
  onFile: (file: File) => void;
  /** Draws what opens the dialog. */
  children: (open: () => void) => ReactNode;
}

export function FilePicker({ accept, onFile, children }: FilePickerProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          // The same file may be chosen again.
          event.currentTarget.value = "";
          if (file) onFile(file);
        }}
      />
      {children(() => input.current?.click())}
    </>
  );
}
