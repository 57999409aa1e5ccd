import { reason, reasonText, type Reason, type ToolCallConfigView } from '@patchboard/wire';
import { foreignText, messageOf } from '../core/failures.ts';
import type { ToolDefinitionInput } from './tool-module.ts';
import { isRecord } from '@patchboard/wire/json';
import { PROTOCOL_IDS, type ProtocolId } from './protocols.ts';

/** How an agent may call tools, with a known protocol. */
export interface ToolCallConfig extends ToolCallConfigView {
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

const KEYS = Object.keys(DEFAULT_TOOL_CALL_CONFIG).join(', ');

/** Returns a complete, validated config. Throws `TypeError` with the name of the invalid setting. */
export function resolveToolCallConfig(given: Partial<ToolCallConfig> = {}): ToolCallConfig {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(DEFAULT_TOOL_CALL_CONFIG, key));
  if (unknown !== undefined)
    throw new ConfigProblem(reason('setting_unknown', { setting: `toolCallConfig.${unknown}`, known: KEYS }));
  const config = { ...DEFAULT_TOOL_CALL_CONFIG, ...given };
  for (const key of ['enabled', 'defaultToolEnabled', 'requireConfirmation', 'parallelExecution'] as const)
    if (typeof config[key] !== 'boolean') throw wrong(key, reason('must_be_boolean'));
  for (const key of ['maxIterations', 'timeout'] as const)
    if (!Number.isSafeInteger(config[key]) || config[key] < 1)
      throw wrong(key, reason('must_be_whole_from', { least: 1 }));
  if (config.mode !== 'auto' && config.mode !== 'manual')
    throw wrong('mode', reason('must_be_either', { one: 'auto', other: 'manual' }));
  if (!PROTOCOL_IDS.includes(config.protocol))
    throw wrong('protocol', reason('issue_const', { value: PROTOCOL_IDS.join(', ') }));
  const { toolToggles } = config;
  if (!isRecord(toolToggles) || !Object.values(toolToggles).every((value) => typeof value === 'boolean'))
    throw wrong('toolToggles', reason('must_be_toggles'));
  return Object.freeze(config);
}

/** A toggle of the tool takes precedence over that of its module, and both over the default. */
export function isToolEnabled(config: ToolCallConfig, toolName: string, module?: string): boolean {
  const { enabled, toolToggles, defaultToolEnabled } = config;
  const key = [toolName, module].find((name) => name !== undefined && Object.hasOwn(toolToggles, name));
  return enabled && (key === undefined ? defaultToolEnabled : toolToggles[key] === true);
}

/** The methods that the config enables, grouped by tool; tools without enabled methods are left out. */
export function enabledTools(
  config: ToolCallConfig,
  tools: readonly ToolDefinitionInput[],
): ToolDefinitionInput[] {
  return tools
    .map(({ methods, ...tool }) => ({
      ...tool,
      methods: methods.filter(({ name, registeredName }) =>
        isToolEnabled(config, registeredName ?? `${tool.toolId}_${name}`, tool.toolId),
      ),
    }))
    .filter(({ methods }) => methods.length > 0);
}

class ConfigProblem extends TypeError {
  readonly reason: Reason;

  constructor(why: Reason) {
    super(reasonText(why));
    this.reason = why;
  }
}

/** The reason of an error that `resolveToolCallConfig` threw. */
export function configProblem(error: unknown): Reason {
  return error instanceof ConfigProblem ? error.reason : foreignText(messageOf(error));
}

function wrong(key: string, problem: Reason): TypeError {
  return new ConfigProblem(reason('request_issue', { place: `toolCallConfig.${key}`, problem: [problem] }));
}
