import { reason, reasonsText, reasonText } from '@patchboard/wire';
import { problemOf } from '../../core/failures.ts';
import type {
  AssistantMessage,
  Message,
  ToolCallNote,
  ToolResultBlock,
  ToolUseBlock,
} from '../../protocols/messages.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { LineStarts } from '../../protocols/text-position.ts';
import type { ReplyItem, ToolCallingProtocol, ToolExecutionResult } from '../../protocols/protocol.ts';
import { protocolOf } from '../../protocols/protocols.ts';
import { definitionsOf, toolFinder } from '../../protocols/registered-tools.ts';
import { replyReader, type ReplyReader as ProtocolReader } from '../../protocols/reply-reader.ts';
import { requestedCall, type FindTool } from '../../protocols/resolve.ts';
import { valueText } from '../../protocols/result-text.ts';
import type { Conversation, Dialect, Reply, ReplyReader, ToolRequest } from './dialect.ts';
import type { KnownPart, PromptMessage } from '../loop/model.ts';

/** For models without tool calls: tools are described in the system prompt, requests are text in the reply, results are text in a message. */
export function textDialect(protocol: 'vcp' | ToolCallingProtocol = 'vcp'): Dialect {
  const textProtocol = typeof protocol === 'string' ? protocolOf(protocol) : protocol;
  if (textProtocol.replies !== 'text')
    throw new TypeError(
      `${textProtocol.id} is no text protocol: omit the dialect to use the vendor's own tool calls`,
    );
  return {
    name: textProtocol.id,
    encode: (conversation) => ({ prompt: toTextPrompt(textProtocol, conversation) }),
    reader: (tools, reply) => new TextReader(textProtocol, tools, reply),
  };
}

function toTextPrompt(
  protocol: ToolCallingProtocol,
  { system, messages, tools }: Conversation,
): PromptMessage[] {
  const definitions = protocol.generateToolDefinitions(definitionsOf(tools));
  const instructions = [system ?? '', definitions].filter((part) => part !== '').join('\n\n');
  const prompt: PromptMessage[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  let asked: readonly ToolUseBlock[] = [];
  for (const message of messages) {
    const text = message.role === 'user' ? userText(protocol, message, asked) : assistantText(message);
    if (message.role === 'assistant') asked = message.content.filter((block) => block.type === 'tool_use');
    // A reply may be empty, but vendors refuse an empty message.
    if (text !== '') prompt.push({ role: message.role, content: [{ type: 'text', text }] });
  }
  return prompt;
}

/** Returns the reply as the model wrote it. */
function assistantText({ source, content }: AssistantMessage): string {
  return source ?? content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function userText(
  protocol: ToolCallingProtocol,
  { content, metadata }: Extract<Message, { role: 'user' }>,
  asked: readonly ToolUseBlock[],
): string {
  const results = content
    .filter((block) => block.type === 'tool_result')
    .flatMap((block) => resultOf(block, asked, metadata?.toolCall ?? []));
  const texts = content.filter((block) => block.type === 'text').map(({ text }) => text);
  return [...(results.length === 0 ? [] : [protocol.formatToolResults(results)]), ...texts].join('\n\n');
}

function resultOf(
  block: ToolResultBlock,
  asked: readonly ToolUseBlock[],
  notes: readonly ToolCallNote[],
): ToolExecutionResult[] {
  const request = asked.find(({ id }) => id === block.tool_use_id);
  if (request?.noReply === true && !block.is_error) return [];
  return [
    {
      requestId: block.tool_use_id,
      toolName: request?.name ?? '',
      status: block.is_error ? 'error' : 'success',
      result: valueText(block.content),
      durationMs: notes.find(({ requestId }) => requestId === block.tool_use_id)?.durationMs ?? 0,
    },
  ];
}

type Block = Reply['content'][number];

class TextReader implements ReplyReader {
  readonly #protocol: ToolCallingProtocol;
  readonly #find: FindTool<RegisteredTool>;
  readonly #reader: ProtocolReader;
  readonly #blocks: Block[] = [];
  readonly #requests: ToolRequest[] = [];
  readonly #lines: LineStarts = new LineStarts();
  #source = '';
  #isOver = false;

  /** `reply` is the number of the reply; it makes generated ids unique within the conversation. */
  constructor(protocol: ToolCallingProtocol, tools: readonly RegisteredTool[], reply: number) {
    this.#protocol = protocol;
    this.#find = toolFinder(tools);
    this.#reader = replyReader(protocol, `r${reply}`);
  }

  take(part: KnownPart): string {
    switch (part.type) {
      case 'text-delta':
        this.#source += part.delta;
        this.#lines.add(part.delta);
        return this.#read(this.#reader.read(part.delta));
      case 'reasoning-delta':
        this.#append('reasoning', part.delta);
        return '';
      case 'finish':
        return this.#end();
      default:
        return '';
    }
  }

  get requests(): readonly ToolRequest[] {
    return this.#requests;
  }

  reply(): Reply {
    return { content: this.#blocks, ...(this.#source === '' ? {} : { source: this.#source }) };
  }

  /** A request that is still incomplete becomes an error for the model. */
  #end(): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return this.#read(this.#reader.end());
  }

  #read(items: readonly ReplyItem[]): string {
    let shown = '';
    for (const item of items) {
      if (item.kind === 'text') {
        this.#append('text', item.text);
        shown += item.text;
        continue;
      }
      const request = item.kind === 'request' ? this.#request(item.request) : this.#damaged(item.error);
      this.#requests.push(request);
      this.#blocks.push(request);
    }
    return shown;
  }

  #append(type: 'text' | 'reasoning', text: string): void {
    const last = this.#blocks.at(-1);
    if (last?.type === type) this.#blocks[this.#blocks.length - 1] = { ...last, text: last.text + text };
    else this.#blocks.push({ type, text });
  }

  #request(request: Extract<ReplyItem, { kind: 'request' }>['request']): ToolRequest {
    const { toolName: name, args, problems } = requestedCall(this.#protocol, request, this.#find);
    const { requestId: id, noReply } = request;
    return {
      type: 'tool_use',
      id,
      ...(noReply === true ? { noReply } : {}),
      name,
      input: args,
      ...(problems.length === 0 ? {} : { problem: reasonsText(problems), reasons: problems }),
    };
  }

  #damaged(error: Extract<ReplyItem, { kind: 'error' }>['error']): ToolRequest {
    const { line, column } = this.#lines.placeOf(error.offset);
    const why = reason('at_line_of_reply', { line, column, problem: problemOf(error) });
    return {
      type: 'tool_use',
      id: error.requestId ?? '',
      name: error.toolName ?? 'unknown',
      input: {},
      problem: reasonText(why),
      reasons: [why],
    };
  }
}
