import type { DeviceFrame } from '@patchboard/wire';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { failure, type Failure } from '../../core/failures.ts';
import { parseGuardedJson } from '../../core/json/json-guard.ts';
import type { JsonLimits } from '../../core/json/json-scanner.ts';
import { isRecord } from '../../core/json/is-record.ts';
import { decodeToolSpecs, type DecodedSpecs } from '../shared/views/tool-spec.ts';
import { DEVICE_FRAMES } from './frames.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const VALIDATORS: ReadonlyMap<string, ValidateFunction> = new Map(
  [...DEVICE_FRAMES].map(([type, { schema }]) => [type, ajv.compile(schema)]),
);

export type DecodedFrame =
  | { readonly ok: true; readonly frame: DeviceFrame }
  | {
      readonly ok: false;
      readonly failure: Failure;
      readonly id: string | null;
      /** What an `error` frame names it; the failure's code where it is null. */
      readonly fault: FrameFault | null;
    };

/** The two faults that the gateway before this one had codes for. */
export type FrameFault = 'INVALID_JSON' | 'UNKNOWN_MESSAGE_TYPE';

export function decodeFrame(text: string, limits: JsonLimits): DecodedFrame {
  const parsed = parseGuardedJson(text, limits);
  if (!parsed.ok) {
    const { problem, line, column } = parsed;
    const message = `the frame is not acceptable JSON: ${problem} (line ${line}, column ${column})`;
    return refused(message, null, 'INVALID_JSON');
  }
  const { value } = parsed;
  if (!isRecord(value)) return refused('a frame is a JSON object');
  const { type, id } = value as { type?: unknown; id?: unknown };
  const validate = typeof type === 'string' ? VALIDATORS.get(type) : undefined;
  if (validate === undefined) {
    const known = [...VALIDATORS.keys()].join(', ');
    const shown = typeof type === 'string' ? `"${type.slice(0, 40)}"` : 'missing';
    return refused(`type ${shown} is not known here; there are ${known}`, id, 'UNKNOWN_MESSAGE_TYPE');
  }
  if (validate(value)) return { ok: true, frame: value as DeviceFrame };
  const [first] = validate.errors ?? [];
  return refused(`${String(type)}${first?.instancePath ?? ''} ${first?.message ?? 'is not valid'}`, id);
}

export function decodeSpecs(tools: readonly unknown[]): DecodedSpecs {
  const { specs, rejected } = decodeToolSpecs(tools.map(withSchema));
  return { specs, rejected: rejected.map((tool) => ({ ...tool, reason: inDeviceWords(tool.reason) })) };
}

/** Devices call the schema of the arguments `parameters`. */
function withSchema(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('parameters' in given)) return given;
  const { parameters, ...rest } = given;
  return 'schema' in rest ? given : { ...rest, schema: parameters };
}

function inDeviceWords(reason: string): string {
  return reason.replace(/^schema /, 'parameters ');
}

function refused(message: string, id: unknown = null, fault: FrameFault | null = null): DecodedFrame {
  const known = typeof id === 'string' ? id.slice(0, 400) : null;
  return { ok: false, failure: failure('body_invalid', message), id: known, fault };
}
