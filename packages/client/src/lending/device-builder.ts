import type { DeviceToolSpec, JsonSchema } from '@patchboard/wire';
import { connectDevice } from './device.ts';
import type { Device, DeviceOptions } from './device-options.ts';
import type { ToolCallHandler } from './device-work.ts';

/** As `DeviceToolSpec`, with the schema as an object or as JSON text. */
export interface ToolSpecText extends Omit<DeviceToolSpec, 'parameters'> {
  readonly parameters: JsonSchema | string;
}

/** Step by step, for those who like it so; `connectDevice` says the same in one. */
export interface DeviceBuilder {
  registerTool(spec: ToolSpecText): DeviceBuilder;
  /** Runs every tool; it tells them apart by `request.name`. */
  toolCallHandler(handler: ToolCallHandler): DeviceBuilder;
  options(options: Omit<DeviceOptions, 'specs' | 'handler'>): DeviceBuilder;
  /** Connects. */
  build(): Device;
}

/** `Patchboard.device(url).registerTool(spec).toolCallHandler(handler).build()`. */
export const Patchboard = {
  device: (url: string): DeviceBuilder => builder(url, {}),
} as const;

function builder(url: string, given: DeviceOptions): DeviceBuilder {
  return {
    registerTool: (spec) => builder(url, { ...given, specs: [...(given.specs ?? []), parsed(spec)] }),
    toolCallHandler: (handler) => builder(url, { ...given, handler }),
    options: (options) => builder(url, { ...given, ...options }),
    build: () => connectDevice(url, given),
  };
}

function parsed(spec: ToolSpecText): DeviceToolSpec {
  const { parameters, ...rest } = spec;
  if (typeof parameters !== 'string') return { ...rest, parameters };
  try {
    return { ...rest, parameters: JSON.parse(parameters) as JsonSchema };
  } catch (error) {
    throw new TypeError(`the parameters of ${spec.name} are no JSON: ${String(error)}`, { cause: error });
  }
}
