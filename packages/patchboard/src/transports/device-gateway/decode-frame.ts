import { type DeviceFrame, reason, type Reason } from '@patchboard/wire';
import { failure, type Failure } from '../../core/failures.ts';
import { parseGuardedJson } from '../../core/json/json-guard.ts';
import { peekTexts } from '../../core/json/json-peek.ts';
import type { JsonLimits } from '../../core/json/json-scanner.ts';
import { isRecord, type SchemaValidator } from '@patchboard/wire/json';
import { ownValidator } from '../shared/routes/own-schema.ts';
import { decodeToolSpecs, type DecodedSpecs } from '../shared/views/tool-spec.ts';
import { DEVICE_FRAMES } from './frames.ts';

const VALIDATORS: ReadonlyMap<string, SchemaValidator> = new Map(
  [...DEVICE_FRAMES].map(([type, { schema }]) => [type, ownValidator(schema)]),
);

export type DecodedFrame = { readonly ok: true; readonly frame: DeviceFrame } | RefusedFrame;

export interface RefusedFrame {
  readonly ok: false;
  readonly failure: Failure;
  readonly id: string | null;
  /** Whether the frame is a result for the request with this id. */
  readonly isResult: boolean;
  /** Code for the `error` frame; if null, the failure's code is used. */
  readonly fault: FrameFault | null;
}

/** Codes of the earlier gateway, kept for its devices. */
export type FrameFault = 'INVALID_JSON' | 'UNKNOWN_MESSAGE_TYPE';

export function decodeFrame(text: string, limits: JsonLimits): DecodedFrame {
  const parsed = parseGuardedJson(text, limits);
  if (!parsed.ok) {
    const { reason: problem, line, column } = parsed;
    const why = reason('frame_not_json', { problem: [problem], line, column });
    return refused(why, peekTexts(text, MEMBERS), 'INVALID_JSON');
  }
  const { value } = parsed;
  if (!isRecord(value)) return refused(reason('frame_not_object'));
  const { type } = value as { type?: unknown };
  const validate = typeof type === 'string' ? VALIDATORS.get(type) : undefined;
  if (validate === undefined) {
    const known = [...VALIDATORS.keys()].join(', ');
    const why =
      typeof type === 'string'
        ? reason('frame_type_unknown', { type: type.slice(0, 40), known })
        : reason('frame_type_missing', { known });
    return refused(why, value, 'UNKNOWN_MESSAGE_TYPE');
  }
  const issues = validate(value);
  if (issues === null) return { ok: true, frame: value as DeviceFrame };
  const [first] = issues;
  const place = `${String(type)}${first?.path ?? ''}`;
  return refused(reason('frame_malformed', { place, error: first?.message ?? 'is not valid' }), value);
}

/** Refuses a binary message; frames are text. Reads type and id if it contains a frame. */
export function decodeBinary(data: Buffer): RefusedFrame {
  return refused(reason('frame_not_text'), peekTexts(data.toString('utf8'), MEMBERS));
}

export function decodeSpecs(tools: readonly unknown[]): DecodedSpecs {
  return decodeToolSpecs(tools.map(withSchema), 'parameters');
}

/** In the device API the schema of the arguments is called `parameters`. */
function withSchema(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('parameters' in given)) return given;
  const { parameters, ...rest } = given;
  return 'schema' in rest ? given : { ...rest, schema: parameters };
}

const MEMBERS = ['type', 'id'] as const;
const RESULTS: readonly unknown[] = ['tool_result', 'tool_error'];

/** `frame`: the members that could be read. */
function refused(
  why: Reason,
  frame: { readonly type?: unknown; readonly id?: unknown } = {},
  fault: FrameFault | null = null,
): RefusedFrame {
  const { type, id } = frame;
  const known = typeof id === 'string' ? id.slice(0, 400) : null;
  const isResult = known !== null && RESULTS.includes(type);
  return { ok: false, failure: failure('body_invalid', why), id: known, isResult, fault };
}
