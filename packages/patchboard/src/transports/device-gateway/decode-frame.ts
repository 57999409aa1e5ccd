import type { DeviceFrame } from '@patchboard/wire';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { failure, type Failure } from '../../core/failures.ts';
import { parseGuardedJson } from '../../core/json/json-guard.ts';
import { peekTexts } from '../../core/json/json-peek.ts';
import type { JsonLimits } from '../../core/json/json-scanner.ts';
import { isRecord } from '../../core/json/is-record.ts';
import { decodeToolSpecs, type DecodedSpecs } from '../shared/views/tool-spec.ts';
import { DEVICE_FRAMES } from './frames.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const VALIDATORS: ReadonlyMap<string, ValidateFunction> = new Map(
  [...DEVICE_FRAMES].map(([type, { schema }]) => [type, ajv.compile(schema)]),
);

export type DecodedFrame = { readonly ok: true; readonly frame: DeviceFrame } | RefusedFrame;

export interface RefusedFrame {
  readonly ok: false;
  readonly failure: Failure;
  readonly id: string | null;
  /** It was to be the result of the request with this id. */
  readonly isResult: boolean;
  /** What an `error` frame names it; the failure's code where it is null. */
  readonly fault: FrameFault | null;
}

/** The two faults that the gateway before this one had codes for. */
export type FrameFault = 'INVALID_JSON' | 'UNKNOWN_MESSAGE_TYPE';

export function decodeFrame(text: string, limits: JsonLimits): DecodedFrame {
  const parsed = parseGuardedJson(text, limits);
  if (!parsed.ok) {
    const { problem, line, column } = parsed;
    const message = `the frame is not acceptable JSON: ${problem} (line ${line}, column ${column})`;
    return refused(message, peekTexts(text, MEMBERS), 'INVALID_JSON');
  }
  const { value } = parsed;
  if (!isRecord(value)) return refused('a frame is a JSON object');
  const { type } = value as { type?: unknown };
  const validate = typeof type === 'string' ? VALIDATORS.get(type) : undefined;
  if (validate === undefined) {
    const known = [...VALIDATORS.keys()].join(', ');
    const shown = typeof type === 'string' ? `"${type.slice(0, 40)}"` : 'missing';
    return refused(`type ${shown} is not known here; there are ${known}`, value, 'UNKNOWN_MESSAGE_TYPE');
  }
  if (validate(value)) return { ok: true, frame: value as DeviceFrame };
  const [first] = validate.errors ?? [];
  return refused(`${String(type)}${first?.instancePath ?? ''} ${first?.message ?? 'is not valid'}`, value);
}

/** A binary message, which no frame is; the sender may have meant one. */
export function decodeBinary(data: Buffer): RefusedFrame {
  return refused('frames are text', peekTexts(data.toString('utf8'), MEMBERS));
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

const MEMBERS = ['type', 'id'] as const;
const RESULTS: readonly unknown[] = ['tool_result', 'tool_error'];

/** `frame`: as much of it as could be read. */
function refused(
  message: string,
  frame: { readonly type?: unknown; readonly id?: unknown } = {},
  fault: FrameFault | null = null,
): RefusedFrame {
  const { type, id } = frame;
  const known = typeof id === 'string' ? id.slice(0, 400) : null;
  const isResult = known !== null && RESULTS.includes(type);
  return { ok: false, failure: failure('body_invalid', message), id: known, isResult, fault };
}
