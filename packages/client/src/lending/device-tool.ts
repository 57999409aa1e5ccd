import type { DeviceToolSpec, JsonSchema } from '@patchboard/wire';
import type { RequestInput } from './device-inputs.ts';
import { lentSpec, type LentTool } from './lent-tool.ts';

/** One request, as a handler receives it. */
export interface DeviceCall {
  /** Id of this attempt. */
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly attempt: number;
  /** When the server stops waiting; null if it did not send a deadline. Later after each response to an input request. */
  readonly deadlineAt: Date | null;
  /** Aborted when the call was cancelled or timed out; the result is no longer needed. */
  readonly signal: AbortSignal;
  /** Emits a progress event. It is sent once, without retries. */
  readonly progress: (data: unknown) => void;
  /**
   * Asks the caller for input, and resolves with the content that fits `schema` (null for a `url`). The clock of the tool
   * stands still meanwhile. Rejects with `PatchboardError` `input_declined`, or `input_unavailable` if the caller cannot
   * be asked; an error that the tool does not catch becomes the failure of the call. Survives lost connections.
   */
  readonly requestInput: RequestInput;
}

/** A tool of this device, with the function that runs it. */
export interface DeviceTool extends LentTool {
  /** JSON Schema of the arguments. Default: any object. */
  readonly parameters?: JsonSchema;
  /** Runs the tool. The return value is the result; a thrown error fails the call. */
  run(args: never, call: DeviceCall): unknown;
}

/** Defines a tool with typed arguments. The server validates them against `parameters`. */
export function deviceTool<Args = Record<string, unknown>>(
  tool: Omit<DeviceTool, 'run'> & { readonly run: (args: Args, call: DeviceCall) => unknown },
): DeviceTool {
  return tool;
}

/** Registered globally, so that it is the same in all copies of this package. */
const IS_TOOL_CALL_RESULT: unique symbol = Symbol.for('patchboard.ToolCallResult');

/** An explicit success or failure that a handler can return instead of a plain value or a thrown error. */
export interface ToolCallResult {
  readonly [IS_TOOL_CALL_RESULT]: true;
  readonly success: boolean;
  readonly output: unknown;
  readonly error: string;
}

export const ToolCallResult: {
  success(output?: unknown): ToolCallResult;
  failure(error: string): ToolCallResult;
} = {
  success: (output = null) => ({ [IS_TOOL_CALL_RESULT]: true, success: true, output, error: '' }),
  failure: (error) => ({ [IS_TOOL_CALL_RESULT]: true, success: false, output: null, error }),
};

export function isToolCallResult(value: unknown): value is ToolCallResult {
  return typeof value === 'object' && value !== null && IS_TOOL_CALL_RESULT in value;
}

export function toDeviceSpec(tool: DeviceTool): DeviceToolSpec {
  return { ...lentSpec(tool), parameters: tool.parameters ?? { type: 'object' } };
}
