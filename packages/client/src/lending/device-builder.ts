import type { DeviceToolSpec, JsonSchema } from '@patchboard/wire';
import { connectDevice } from './device.ts';
import type { Device, DeviceOptions } from './device-options.ts';
import type { ToolCallHandler } from './device-work.ts';

/** A `DeviceToolSpec` whose schema may be an object or JSON text. */
export interface ToolSpecText extends Omit<DeviceToolSpec, 'parameters'> {
  readonly parameters: JsonSchema | string;
}

/** Fluent alternative to `connectDevice`. */
export interface DeviceBuilder {
  registerTool(spec: ToolSpecText): DeviceBuilder;
  /** Sets the handler that runs every tool; `request.name` is the tool. */
  toolCallHandler(handler: ToolCallHandler): DeviceBuilder;
  options(options: Omit<DeviceOptions, 'specs' | 'handler'>): DeviceBuilder;
  /** Connects the device. */
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
    throw new TypeError(`the parameters of ${spec.name} are not valid JSON: ${String(error)}`, {
      cause: error,
    });
  }
}
