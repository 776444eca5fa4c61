/** A field for several lines that is as high as its text, between two numbers of lines. */
import { Textarea, type TextareaProps } from "@mantine/core";
import classes from "./GrowingText.module.css";

interface GrowingTextProps extends Omit<TextareaProps, "autosize" | "classNames" | "rows" | "resize"> {
  minRows: number;
  maxRows: number;
  /** Beside the field's own. */
  inputClass?: string;
  labelClass?: string;
}

export function GrowingText({ minRows, maxRows, inputClass = "", labelClass, ...props }: GrowingTextProps) {
  return (
    <Textarea
      {...props}
      // Where a browser does not measure the text itself, the visitor pulls at the field's corner.
      rows={minRows}
      classNames={{ input: `${classes.input} ${inputClass}`, ...(labelClass && { label: labelClass }) }}
      __vars={{ "--least-rows": String(minRows), "--most-rows": String(maxRows) }}
    />
  );
}
