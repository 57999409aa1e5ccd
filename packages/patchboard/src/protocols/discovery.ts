import { canonicalJson } from '../core/json/canonical-json.ts';
import type { MethodMetadata, ToolDefinitionInput } from './tool-module.ts';
import { protocolOf } from './protocols.ts';
import { fitToBudget } from './prompt-budget.ts';
import { enabledTools, resolveToolCallConfig, type ToolCallConfig } from './tool-call-config.ts';

/** Where tools are discovered: a registry, or what one caller may see of an engine. */
export interface DiscoverySource {
  /** Another after every change. */
  readonly version: number | string;
  /** Every method, whether it may be called or not. */
  definitions(): readonly ToolDefinitionInput[];
}

export type MethodFilter = (method: MethodMetadata, toolId: string) => boolean;

export interface PromptOptions {
  readonly config?: Partial<ToolCallConfig>;
  /** Prompts are kept per agent. */
  readonly agentId?: string;
  /** Characters the prompt may take. Over it, the tools that matter least are only listed by name. Default: no limit. */
  readonly budget?: number;
  /** What the conversation is about: tools that have to do with it come first. */
  readonly relevantTo?: string;
}

export interface ToolDiscoveryService {
  /** Methods that agents may call; with a filter, those it picks instead. */
  getDiscoveredMethods(filter?: MethodFilter): ToolDefinitionInput[];
  /** The prompt that offers the tools that are switched on; empty when tool calls are off. */
  generatePrompt(options?: PromptOptions): string;
  /** Forgets every prompt. A change in the source does so by itself. */
  invalidateCache(): void;
}

/** Characters of prompts and of what they were asked for with. Beyond it they are made anew, which is only slower. */
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

/** By protocol, agent and config; the version of the source empties the whole cache. */
function keyOf(config: ToolCallConfig, { agentId = '', budget = 0, relevantTo = '' }: PromptOptions): string {
  return canonicalJson([config.protocol, agentId, config, budget, relevantTo]);
}
