import { canonicalJson } from '../core/canonical-json.ts';
import type { MethodMetadata, ToolDefinitionInput } from '../core/tool-module.ts';
import { protocolOf } from './protocols.ts';
import { fitToBudget } from './prompt-budget.ts';
import { isToolEnabled, resolveToolCallConfig, type ToolCallConfig } from './tool-call-config.ts';

/** Where tools are discovered: a registry, or what one asker may see of an engine. */
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

/** Prompts beyond it are made anew, which is only slower. */
const KEPT_PROMPTS = 200;

export function createToolDiscoveryService(source: DiscoverySource): ToolDiscoveryService {
  const prompts = new Map<string, string>();
  let version = source.version;
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
      if (version !== source.version) prompts.clear();
      version = source.version;
      const key = keyOf(config, options);
      const kept = prompts.get(key);
      if (kept !== undefined) return kept;
      const enabled = discover().filter(({ toolId }) => isToolEnabled(config, toolId));
      const protocol = protocolOf(config.protocol);
      const { budget = Infinity, relevantTo = '' } = options;
      const prompt = fitToBudget(enabled, (tools) => protocol.generateToolDefinitions(tools), {
        budget,
        relevantTo,
      });
      if (prompts.size >= KEPT_PROMPTS) prompts.clear();
      prompts.set(key, prompt);
      return prompt;
    },
    invalidateCache: () => prompts.clear(),
  };
}

/** By protocol, agent and config; the version of the source empties the whole cache. */
function keyOf(config: ToolCallConfig, { agentId = '', budget = 0, relevantTo = '' }: PromptOptions): string {
  return canonicalJson([config.protocol, agentId, config, budget, relevantTo]);
}
