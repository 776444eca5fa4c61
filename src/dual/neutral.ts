/**
 * Documents and questions come from outside and may contain the control words of chat formats; a tokenizer would read
 * them as such, and a document could end its own message or speak for the assistant. A space makes them plain text.
 */

const CONTROL = /<(?=\|[\w ]+\|>|\/?(?:think|tools|tool_call|tool_response|answer|s)>)/gi;

/** The text with the control words of ChatML, Qwen and Llama formats broken up; any other text as it is. */
export function neutralizeControls(text: string): string {
  return text.replace(CONTROL, "< ");
}
