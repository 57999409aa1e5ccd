import { canonicalJson } from '@patchboard/wire/json';
import type { MethodMetadata, ToolDefinitionInput } from './tool-module.ts';
import { protocolOf } from './protocols.ts';
import { fitToBudget } from './prompt-budget.ts';
import { enabledTools, resolveToolCallConfig, type ToolCallConfig } from './tool-call-config.ts';

/** A source of tools: a registry, or the tools of an engine that one caller may see. */
export interface DiscoverySource {
  /** Changes with every change of the tools. */
  readonly version: number | string;
  /** All methods, including those that agents may not call. */
  definitions(): readonly ToolDefinitionInput[];
}

export type MethodFilter = (method: MethodMetadata, toolId: string) => boolean;

export interface PromptOptions {
  readonly config?: Partial<ToolCallConfig>;
  /** Prompts are cached per agent. */
  readonly agentId?: string;
  /** Maximum characters of the prompt. Beyond it, the least relevant tools are listed by name only. Default: no limit. */
  readonly budget?: number;
  /** Text of the conversation: tools that share words with it come first. */
  readonly relevantTo?: string;
}

export interface ToolDiscoveryService {
  /** Returns the methods that agents may call; with a filter, the methods that it selects instead. */
  getDiscoveredMethods(filter?: MethodFilter): ToolDefinitionInput[];
  /** Returns the prompt with the enabled tools; empty if tool calls are disabled. */
  generatePrompt(options?: PromptOptions): string;
  /** Clears the prompt cache. A change of the source clears it too. */
  invalidateCache(): void;
}

/** Bounds the prompt cache, in characters of keys and prompts. Beyond it, the cache is cleared. */
const KEPT_CHARS = 8_388_608;

export function createToolDiscoveryService(source: DiscoverySource): ToolDiscoveryService {
  const prompts = new Map<string, string>();
  let version = source.version;
  let chars = 0;
  const forget = (): void => {
    prompts.clear();
    chars = 0;
  };
  const discover = (
    filter: MethodFilter = ({ agentCallable }) => agentCallable === true,
  ): ToolDefinitionInput[] =>
    source
      .definitions()
      .map((tool) => ({ ...tool, methods: tool.methods.filter((method) => filter(method, tool.toolId)) }))
      .filter(({ methods }) => methods.length > 0);
  return {
    getDiscoveredMethods: discover,
    generatePrompt: (options = {}) => {
      const config = resolveToolCallConfig(options.config);
      if (!config.enabled) return '';
      if (version !== source.version) forget();
      version = source.version;
      const key = keyOf(config, options);
      const kept = prompts.get(key);
      if (kept !== undefined) return kept;
      const protocol = protocolOf(config.protocol);
      const { budget = Infinity, relevantTo = '' } = options;
      const prompt = fitToBudget(
        enabledTools(config, discover()),
        (tools) => protocol.generateToolDefinitions(tools),
        {
          budget,
          relevantTo,
        },
      );
      chars += key.length + prompt.length;
      if (chars > KEPT_CHARS) forget();
      else prompts.set(key, prompt);
      return prompt;
    },
    invalidateCache: forget,
  };
}

/** The cache key of a prompt. The version of the source is not part of it: a new version clears the cache. */
function keyOf(config: ToolCallConfig, { agentId = '', budget = 0, relevantTo = '' }: PromptOptions): string {
  return canonicalJson([config.protocol, agentId, config, budget, relevantTo]);
}
