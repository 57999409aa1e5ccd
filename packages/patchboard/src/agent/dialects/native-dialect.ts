import { reason, reasonText, WIRE_LIMITS, type JsonSchema } from '@patchboard/wire';
import { parseGuardedJson } from '../../core/json/json-guard.ts';
import type { ProviderMetadata, ReasoningBlock, TextBlock } from '../../protocols/messages.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import type { Dialect, Reply, ReplyReader, ToolRequest } from './dialect.ts';
import type { FunctionTool, KnownPart } from '../loop/model.ts';
import { toPrompt } from './native-prompt.ts';

const ARGUMENT_LIMITS = { depth: WIRE_LIMITS.jsonDepth, values: 100_000 };

/** Uses the vendor's own tool calls. */
export const nativeDialect: Dialect = {
  name: 'native',
  encode: ({ system, messages, tools, pictures }) => ({
    prompt: toPrompt(system, messages, tools, pictures),
    ...(tools.length === 0 ? {} : { tools: tools.map(toFunctionTool) }),
  }),
  reader: (tools) => new NativeReader(tools),
};

function toFunctionTool({ wireName, description, inputSchema }: RegisteredTool): FunctionTool {
  return {
    type: 'function',
    name: wireName,
    ...(description === '' ? {} : { description }),
    inputSchema: objectSchema(inputSchema),
  };
}

/** Vendors accept only object schemas, and some require `properties`. */
function objectSchema(schema: JsonSchema): FunctionTool['inputSchema'] {
  return { type: 'object', properties: {}, ...(typeof schema === 'boolean' ? {} : schema) };
}

type OpenBlock = { type: 'text' | 'reasoning'; text: string; metadata: ProviderMetadata | undefined };

class NativeReader implements ReplyReader {
  readonly #names: ReadonlyMap<string, string>;
  readonly #blocks: (OpenBlock | ToolRequest)[] = [];
  readonly #byId: Map<string, OpenBlock> = new Map();

  constructor(tools: readonly RegisteredTool[]) {
    this.#names = new Map(tools.map(({ wireName, name }) => [wireName, name]));
  }

  take(part: KnownPart): string {
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        this.#append(this.#block('text', part.id), part.providerMetadata);
        return '';
      case 'reasoning-start':
      case 'reasoning-end':
        this.#append(this.#block('reasoning', part.id), part.providerMetadata);
        return '';
      case 'text-delta':
        this.#append(this.#block('text', part.id), part.providerMetadata, part.delta);
        return part.delta;
      case 'reasoning-delta':
        // Some vendors send the signature of their reasoning in a last part without text.
        this.#append(this.#block('reasoning', part.id), part.providerMetadata, part.delta);
        return '';
      case 'tool-call':
        // Ignore tools that the vendor runs itself.
        if (part.providerExecuted !== true) this.#blocks.push(this.#request(part));
        return '';
      case 'finish':
      case 'error':
        return '';
    }
  }

  get requests(): readonly ToolRequest[] {
    return this.#blocks.filter((block) => block.type === 'tool_use');
  }

  reply(): Reply {
    return { content: this.#blocks.map(closed).filter((block) => !isEmpty(block)) };
  }

  #block(type: OpenBlock['type'], id: string): OpenBlock {
    const key = `${type} ${id}`;
    const existing = this.#byId.get(key);
    if (existing !== undefined) return existing;
    const block: OpenBlock = { type, text: '', metadata: undefined };
    this.#byId.set(key, block);
    this.#blocks.push(block);
    return block;
  }

  #append(block: OpenBlock, metadata: ProviderMetadata | undefined, text = ''): void {
    block.text += text;
    if (metadata !== undefined) block.metadata = { ...block.metadata, ...metadata };
  }

  #request(part: Extract<KnownPart, { type: 'tool-call' }>): ToolRequest {
    const { toolCallId: id, toolName, input, providerMetadata } = part;
    const name = this.#names.get(toolName) ?? toolName;
    const common = {
      type: 'tool_use',
      id,
      name,
      ...(providerMetadata === undefined ? {} : { providerMetadata }),
    } as const;
    // Some models send an empty string for a tool without parameters.
    const read = parseGuardedJson(input.trim() === '' ? '{}' : input, ARGUMENT_LIMITS);
    if (read.ok) return { ...common, input: read.value };
    const { reason: problem, line, column } = read;
    const why = reason('model_arguments_not_json', { problem: [problem], line, column });
    return { ...common, input, problem: reasonText(why), reasons: [why] };
  }
}

function closed(block: OpenBlock | ToolRequest): Reply['content'][number] {
  if (block.type === 'tool_use') return block;
  const { type, text, metadata } = block;
  return { type, text, ...(metadata === undefined ? {} : { providerMetadata: metadata }) };
}

/** Vendors refuse empty text blocks, but some require reasoning blocks back that have only metadata. */
function isEmpty(block: TextBlock | ReasoningBlock | ToolRequest): boolean {
  return block.type !== 'tool_use' && block.text === '' && block.providerMetadata === undefined;
}
