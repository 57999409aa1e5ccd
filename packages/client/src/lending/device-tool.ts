import type { DeviceToolSpec, JsonSchema } from '@patchboard/wire';
import { lentSpec, type LentTool } from './lent-tool.ts';

/** What a handler knows of one request. Never anything of the server's own. */
export interface DeviceCall {
  /** Of this attempt. */
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly attempt: number;
  /** When the server stops waiting; null: it did not say. */
  readonly deadlineAt: Date | null;
  /** Fires when the call was cancelled or ran out of time: nobody waits for the result any more. */
  readonly signal: AbortSignal;
  /** Shown to whoever watches; sent once, never again. */
  readonly progress: (data: unknown) => void;
}

/** One tool this device lends, and how it runs. */
export interface DeviceTool extends LentTool {
  /** JSON Schema of the arguments. Default: an object with anything in it. */
  readonly parameters?: JsonSchema;
  /** What it returns is the result; what it throws is the failure. */
  run(args: never, call: DeviceCall): unknown;
}

/** Says what a tool is, with the type of its arguments. They were checked against `parameters` by the server. */
export function deviceTool<Args = Record<string, unknown>>(
  tool: Omit<DeviceTool, 'run'> & { readonly run: (args: Args, call: DeviceCall) => unknown },
): DeviceTool {
  return tool;
}

/** Shared by all copies of this package. */
const KEPT: unique symbol = Symbol.for('patchboard.ToolCallResult');

/** A handler's own word on how it went, where returning and throwing do not say it well. */
export interface ToolCallResult {
  readonly [KEPT]: true;
  readonly success: boolean;
  readonly output: unknown;
  readonly error: string;
}

export const ToolCallResult: {
  success(output?: unknown): ToolCallResult;
  failure(error: string): ToolCallResult;
} = {
  success: (output = null) => ({ [KEPT]: true, success: true, output, error: '' }),
  failure: (error) => ({ [KEPT]: true, success: false, output: null, error }),
};

export function isToolCallResult(value: unknown): value is ToolCallResult {
  return typeof value === 'object' && value !== null && KEPT in value;
}

export function toDeviceSpec(tool: DeviceTool): DeviceToolSpec {
  return { ...lentSpec(tool), parameters: tool.parameters ?? { type: 'object' } };
}
