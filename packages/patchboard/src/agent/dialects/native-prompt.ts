import type {
  AssistantMessage,
  Json,
  Message,
  ProviderMetadata,
  ToolResultBlock,
  UserMessage,
} from '../../protocols/messages.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { isRecord } from '../../core/json/is-record.ts';
import type { PromptMessage, TextPart, ToolResultPart } from '../loop/model.ts';

/** The conversation as AI SDK models take it. */
export function toPrompt(
  system: string | null,
  messages: readonly Message[],
  tools: readonly RegisteredTool[],
): PromptMessage[] {
  const wireNames = new Map(tools.map(({ name, wireName }) => [name, wireName]));
  const wireName = (name: string): string => wireNames.get(name) ?? vendorName(name);
  const prompt: PromptMessage[] = system === null ? [] : [{ role: 'system', content: system }];
  /** Of the last reply: results name the tool, but the blocks only the request. */
  let asked = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'user') {
      prompt.push(...fromUser(message, asked));
      continue;
    }
    asked = new Map();
    for (const block of message.content)
      if (block.type === 'tool_use') asked.set(block.id, wireName(block.name));
    // A model may have nothing to say, but no vendor takes that back.
    if (message.content.length > 0) prompt.push(fromAssistant(message, asked));
  }
  return prompt;
}

function fromUser({ content }: UserMessage, asked: ReadonlyMap<string, string>): PromptMessage[] {
  const results = content.filter((block) => block.type === 'tool_result');
  const texts = content.filter((block) => block.type === 'text');
  const messages: PromptMessage[] = [];
  if (results.length > 0)
    messages.push({ role: 'tool', content: results.map((block) => resultPart(block, asked)) });
  if (texts.length > 0)
    messages.push({ role: 'user', content: texts.map(({ text }) => ({ type: 'text', text })) });
  return messages;
}

function fromAssistant(message: AssistantMessage, asked: ReadonlyMap<string, string>): PromptMessage {
  const content = message.content.map((block) => {
    const options = optionsOf(block.providerMetadata);
    if (block.type !== 'tool_use') return { type: block.type, text: block.text, ...options } as TextPart;
    const toolName = asked.get(block.id) ?? block.name;
    return {
      type: 'tool-call',
      toolCallId: block.id,
      toolName,
      input: sendable(block.input),
      ...options,
    } as const;
  });
  return { role: 'assistant', content };
}

function resultPart(block: ToolResultBlock, asked: ReadonlyMap<string, string>): ToolResultPart {
  const { tool_use_id: toolCallId, content, is_error: isError } = block;
  const toolName = asked.get(toolCallId) ?? 'unknown';
  const common = { type: 'tool-result', toolCallId, toolName } as const;
  if (typeof content === 'string')
    return { ...common, output: { type: isError ? 'error-text' : 'text', value: content } };
  // What a tool gave back has been through JSON.
  return { ...common, output: { type: isError ? 'error-json' : 'json', value: (content ?? null) as Json } };
}

/** Vendors take objects for arguments; what was none is shown to the model as it wrote it. */
function sendable(input: unknown): unknown {
  if (input === null) return {};
  return isRecord(input) ? input : { input };
}

/** A name that no tool has: the model made it up, and its vendor must take it back. */
function vendorName(name: string): string {
  const plain = name.replaceAll(/[^\w-]/g, '_').slice(0, 64);
  return plain === '' ? '_' : plain;
}

function optionsOf(metadata: ProviderMetadata | undefined): { providerOptions?: ProviderMetadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}
