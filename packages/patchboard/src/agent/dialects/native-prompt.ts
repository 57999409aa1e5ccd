import type {
  AssistantMessage,
  Message,
  ProviderMetadata,
  ToolResultBlock,
  UserMessage,
} from '../../protocols/messages.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { isRecord } from '@patchboard/wire/json';
import type { PromptMessage, TextPart, ToolResultPart } from '../loop/model.ts';
import { resultOutput, type PictureParts } from './result-output.ts';

/** Converts the conversation to the prompt format of AI SDK models. */
export function toPrompt(
  system: string | null,
  messages: readonly Message[],
  tools: readonly RegisteredTool[],
  pictures: PictureParts = null,
): PromptMessage[] {
  const wireNames = new Map(tools.map(({ name, wireName }) => [name, wireName]));
  const wireName = (name: string): string => wireNames.get(name) ?? vendorName(name);
  const prompt: PromptMessage[] = system === null ? [] : [{ role: 'system', content: system }];
  /** Wire names of the last reply's requests by id: a result part needs the tool name, which result blocks lack. */
  let toolNames = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'user') {
      prompt.push(...fromUser(message, toolNames, pictures));
      continue;
    }
    toolNames = new Map();
    for (const block of message.content)
      if (block.type === 'tool_use') toolNames.set(block.id, wireName(block.name));
    // A reply may be empty, but vendors refuse an empty message.
    if (message.content.length > 0) prompt.push(fromAssistant(message, toolNames));
  }
  return prompt;
}

function fromUser(
  { content }: UserMessage,
  toolNames: ReadonlyMap<string, string>,
  pictures: PictureParts,
): PromptMessage[] {
  const results = content.filter((block) => block.type === 'tool_result');
  const texts = content.filter((block) => block.type === 'text');
  const messages: PromptMessage[] = [];
  if (results.length > 0)
    messages.push({ role: 'tool', content: results.map((block) => resultPart(block, toolNames, pictures)) });
  if (texts.length > 0)
    messages.push({ role: 'user', content: texts.map(({ text }) => ({ type: 'text', text })) });
  return messages;
}

function fromAssistant(message: AssistantMessage, toolNames: ReadonlyMap<string, string>): PromptMessage {
  const content = message.content.map((block) => {
    const options = optionsOf(block.providerMetadata);
    if (block.type !== 'tool_use') return { type: block.type, text: block.text, ...options } as TextPart;
    const toolName = toolNames.get(block.id) ?? block.name;
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

function resultPart(
  block: ToolResultBlock,
  toolNames: ReadonlyMap<string, string>,
  pictures: PictureParts,
): ToolResultPart {
  const { tool_use_id: toolCallId } = block;
  const toolName = toolNames.get(toolCallId) ?? 'unknown';
  return { type: 'tool-result', toolCallId, toolName, output: resultOutput(block, pictures) };
}

/** Vendors accept only objects as arguments; any other value is wrapped in one. */
function sendable(input: unknown): unknown {
  if (input === null) return {};
  return isRecord(input) ? input : { input };
}

/** Makes the invented name of an unknown tool acceptable to the vendor. */
function vendorName(name: string): string {
  const plain = name.replaceAll(/[^\w-]/g, '_').slice(0, 64);
  return plain === '' ? '_' : plain;
}

function optionsOf(metadata: ProviderMetadata | undefined): { providerOptions?: ProviderMetadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}
