import { PROTOCOL_IDS, type ProtocolId } from './protocols.ts';

/** How an agent may call tools. */
export interface ToolCallConfig {
  /** Off: no tool is offered, and nothing that looks like a request is run. */
  readonly enabled: boolean;
  /** `manual`: requests are read and handed over, and not run. */
  readonly mode: 'auto' | 'manual';
  /** On or off by tool, or by module for all of its methods. */
  readonly toolToggles: Readonly<Record<string, boolean>>;
  /** For every tool that has no toggle. */
  readonly defaultToolEnabled: boolean;
  /** Replies of the model to one message. */
  readonly maxIterations: number;
  /** Milliseconds for one call; a tool that allows itself less keeps its own limit. */
  readonly timeout: number;
  /** Ask before every call. */
  readonly requireConfirmation: boolean;
  /** All requests of one reply at once; otherwise one after the other. */
  readonly parallelExecution: boolean;
  readonly protocol: ProtocolId;
}

export const DEFAULT_TOOL_CALL_CONFIG: ToolCallConfig = Object.freeze({
  enabled: false,
  mode: 'auto',
  toolToggles: {},
  defaultToolEnabled: false,
  maxIterations: 20,
  timeout: 30_000,
  requireConfirmation: false,
  parallelExecution: false,
  protocol: 'vcp',
});

/** Complete and checked; throws `TypeError` with the name of what is wrong. */
export function resolveToolCallConfig(given: Partial<ToolCallConfig> = {}): ToolCallConfig {
  const config = { ...DEFAULT_TOOL_CALL_CONFIG, ...given };
  for (const key of ['enabled', 'defaultToolEnabled', 'requireConfirmation', 'parallelExecution'] as const)
    if (typeof config[key] !== 'boolean') throw wrong(key, 'true or false');
  for (const key of ['maxIterations', 'timeout'] as const)
    if (!Number.isSafeInteger(config[key]) || config[key] < 1) throw wrong(key, 'a whole number from 1');
  if (config.mode !== 'auto' && config.mode !== 'manual') throw wrong('mode', 'auto or manual');
  if (!PROTOCOL_IDS.includes(config.protocol)) throw wrong('protocol', PROTOCOL_IDS.join(', '));
  const { toolToggles } = config;
  const isMap = typeof toolToggles === 'object' && toolToggles !== null && !Array.isArray(toolToggles);
  if (!isMap || !Object.values(toolToggles).every((value) => typeof value === 'boolean'))
    throw wrong('toolToggles', 'an object of true and false by tool');
  return Object.freeze(config);
}

/** `toolId` is a module or a tool that is none's method. */
export function isToolEnabled({ toolToggles, defaultToolEnabled }: ToolCallConfig, toolId: string): boolean {
  return Object.hasOwn(toolToggles, toolId) ? toolToggles[toolId] === true : defaultToolEnabled;
}

function wrong(key: string, wanted: string): TypeError {
  return new TypeError(`toolCallConfig.${key} must be ${wanted}`);
}
