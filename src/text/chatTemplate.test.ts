/** Chat templates: Qwen3's own, against what transformers renders, and what templates may rely on. */
import { beforeAll, describe, expect, it } from "vitest";
import { qwen3TokenizerSource } from "../../tests/fixtures/qwen3Tokenizer";
import { createChatTemplate, type RenderChat } from "./chatTemplate";
import type { ChatMessage, ToolFunction } from "./tokenizer";

const search: ToolFunction = {
  name: "search",
  description: 'Finds documents & says "where" — for <any> query\'s words',
  parameters: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "integer", default: 5, maximum: 1.5 } },
    required: ["query"],
    additionalProperties: false,
  },
};

describe("Qwen3's template", () => {
  let render: RenderChat;
  beforeAll(async () => {
    const config = await qwen3TokenizerSource().file("tokenizer_config.json");
    render = createChatTemplate(JSON.parse(new TextDecoder().decode(config)));
  });

  const question: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Who wrote it?" },
  ];

  it("renders messages and opens the answer", () => {
    expect(render(question)).toBe(
      "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWho wrote it?<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(render(question, { addGenerationPrompt: false })).toBe(
      "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWho wrote it?<|im_end|>\n",
    );
  });

  it("closes the thought at once when thinking is off, and only then", () => {
    const off = render(question, { enableThinking: false });
    expect(off.endsWith("<|im_start|>assistant\n<think>\n\n</think>\n\n")).toBe(true);
    expect(render(question, { enableThinking: true })).toBe(render(question));
  });

  it("writes tools as Python's json.dumps does", () => {
    const text = render(question, { tools: [search] });
    expect(text).toBe(
      "<|im_start|>system\nBe brief.\n\n# Tools\n\nYou may call one or more functions to assist with the user query." +
        "\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>\n" +
        '{"type": "function", "function": {"name": "search", ' +
        '"description": "Finds documents & says \\"where\\" — for <any> query\'s words", ' +
        '"parameters": {"type": "object", "properties": {"query": {"type": "string"}, ' +
        '"limit": {"type": "integer", "default": 5, "maximum": 1.5}}, "required": ["query"], ' +
        '"additionalProperties": false}}}\n</tools>\n\n' +
        "For each function call, return a json object with function name and arguments within " +
        "<tool_call></tool_call> XML tags:\n<tool_call>\n" +
        '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n' +
        "<|im_start|>user\nWho wrote it?<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  it("groups tool responses in a user message and drops thoughts of turns before the last question", () => {
    const call = '<tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>';
    const messages: ChatMessage[] = [
      { role: "user", content: "First?" },
      { role: "assistant", content: "<think>\nold thought\n</think>\n\nOne." },
      { role: "user", content: "Second?" },
      { role: "assistant", content: `<think>\nnew thought\n</think>\n\n${call}` },
      { role: "tool", content: "[1] a" },
      { role: "tool", content: "[2] b" },
    ];
    expect(render(messages)).toBe(
      "<|im_start|>user\nFirst?<|im_end|>\n<|im_start|>assistant\nOne.<|im_end|>\n<|im_start|>user\nSecond?<|im_end|>\n" +
        `<|im_start|>assistant\n<think>\nnew thought\n</think>\n\n${call}<|im_end|>\n` +
        "<|im_start|>user\n<tool_response>\n[1] a\n</tool_response>\n<tool_response>\n[2] b\n</tool_response><|im_end|>\n" +
        "<|im_start|>assistant\n",
    );
  });

  it("leaves messages and tools as they were", () => {
    const messages = structuredClone(question);
    const tools = [structuredClone(search)];
    render(messages, { tools });
    expect(messages).toEqual(question);
    expect(tools).toEqual([search]);
  });
});

describe("createChatTemplate", () => {
  const renderOnce = (template: string, config: object = {}, tools?: ToolFunction[]) =>
    createChatTemplate({ ...config, chat_template: template })([{ role: "user", content: "a <b> & 'c'" }], { tools });

  it("trims blocks as transformers does, and does not escape HTML", () => {
    expect(renderOnce("{% for m in messages %}\n  {% if true %}\n{{ m.content }}\n  {% endif %}\n{% endfor %}")).toBe(
      "a <b> & 'c'\n",
    );
    expect(renderOnce("{{ messages | tojson }}")).toBe('[{"role": "user", "content": "a <b> & \'c\'"}]');
  });

  it("hands over the special tokens there are, as text", () => {
    const config = {
      bos_token: { content: "<s>", lstrip: false, __type: "AddedToken" },
      eos_token: "</s>",
      pad_token: null,
      additional_special_tokens: ["<x>", { content: "<y>" }],
    };
    const template =
      "{{ bos_token + eos_token }} {{ pad_token is defined }} {{ unk_token is defined }} {{ additional_special_tokens | join(',') }}";
    expect(renderOnce(template, config)).toBe("<s></s> false false <x>,<y>");
  });

  it("gives tools as none when there are none, and members without undefined ones", () => {
    expect(renderOnce("{{ tools is none }} {{ enable_thinking is defined }}")).toBe("true false");
    const tool = { name: "f", description: "d", parameters: { type: "object", properties: undefined } };
    expect(renderOnce("{{ tools | tojson }}", {}, [tool])).toBe(
      '[{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]',
    );
  });

  it("chooses among named templates", () => {
    const chat_template = [
      { name: "default", template: "plain" },
      { name: "tool_use", template: "tools" },
    ];
    const render = createChatTemplate({ chat_template });
    expect(render([])).toBe("plain");
    expect(render([], { tools: [search] })).toBe("tools");
  });

  it("reports raise_exception, errors within a template, and templates that are none", () => {
    expect(() => renderOnce("{{ raise_exception('Roles must alternate') }}")).toThrow(
      "chat template: Roles must alternate",
    );
    expect(() => renderOnce("{{ messages | unheard_of }}")).toThrow("chat template: ");
    expect(() => createChatTemplate({ chat_template: "{% for %}" })).toThrow("tokenizer_config.json: chat_template: ");
    expect(() => createChatTemplate({}, "{{ 'open }}")).toThrow("chat_template.jinja: ");
    expect(() => createChatTemplate({ chat_template: 3 })).toThrow('tokenizer_config.json: field "chat_template"');
    expect(() => createChatTemplate({})([])).toThrow("no chat template");
  });
});
