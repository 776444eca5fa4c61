/** Opens the browser's file dialog from any button. */
import { type ReactNode, useRef } from "react";

interface FilePickerProps {
  accept?: string;
  onFile?: (file: File) => void;
  /** Instead of `onFile`: any number of files. */
  onFiles?: (files: File[]) => void;
  /** The dialog chooses a folder, and gives all files below it. */
  folder?: boolean;
  /** Draws what opens the dialog. */
  children: (open: () => void) => ReactNode;
}

export function FilePicker({ accept, onFile, onFiles, folder, children }: FilePickerProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        multiple={onFiles !== undefined}
        {...(folder && { webkitdirectory: "" })}
        hidden
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          // The same file may be chosen again.
          event.currentTarget.value = "";
          if (files[0]) onFile?.(files[0]);
          if (files.length > 0) onFiles?.(files);
        }}
      />
      {children(() => input.current?.click())}
    </>
  );
}
