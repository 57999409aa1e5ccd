import { INPUT_ACTIONS, type InputAction, type JsonSchema, PEER_ID_PATTERN } from '@patchboard/wire';
import { CHECKPOINT_PATTERN } from '../../../core/ledger/checkpoint.ts';
import type { Schema, ValueOf } from './routes.ts';

/** Building blocks for the schemas of routes. */

export const ANY: Schema = {};
export const TEXT: Schema<string> = { type: 'string' };
export const COUNT: Schema<number> = { type: 'integer', minimum: 0 };
export const NUMBER: Schema<number> = { type: 'number' };
export const FLAG: Schema<boolean> = { type: 'boolean' };
export const TIME: Schema<string> = { type: 'string', format: 'date-time' };
/** A sequence number of the ledger. */
export const SEQUENCE_PATTERN: RegExp = /^[0-9]{1,15}$/;
export const SEQUENCE: Schema<string> = { type: 'string', pattern: SEQUENCE_PATTERN.source };
/** A checkpoint of the ledger. */
export const CHECKPOINT: Schema<string> = { type: 'string', pattern: CHECKPOINT_PATTERN.source };
/** Ids that callers choose. */
export const PEER_ID: Schema<string> = {
  type: 'string',
  pattern: PEER_ID_PATTERN.source,
  description: '1 to 200 visible ASCII characters',
};

export function nullable<Value>(schema: Schema<Value>): Schema<Value | null> {
  return { anyOf: [schema, { type: 'null' }] };
}

export function enumOf<const Value extends string>(values: readonly Value[]): Schema<Value> {
  return { enum: values };
}

export function listOf<Item>(items: Schema<Item>): Schema<readonly Item[]> {
  return { type: 'array', items };
}

/** An object whose properties have any names, and values of one schema. */
export function mapOf<Value>(values: Schema<Value>): Schema<Readonly<Record<string, Value>>> {
  return { type: 'object', additionalProperties: values };
}

type Properties = Readonly<Record<string, Schema>>;

/** Names that are not literals, such as those of `Object.keys`, make all properties optional. */
type ObjectOf<Of extends Properties, Optional extends string> = {
  readonly [Name in Exclude<keyof Of, Optional>]: ValueOf<Of[Name]>;
} & { readonly [Name in Extract<keyof Of, Optional>]?: ValueOf<Of[Name]> };

/** An object with exactly these properties; all but those in `optional` are required. */
export function object<Of extends Properties, Optional extends string = never>(
  properties: Of,
  optional: readonly Optional[] = [],
): Schema<ObjectOf<Of, Optional>> {
  const names: readonly string[] = optional;
  const required = Object.keys(properties).filter((name) => !names.includes(name));
  return {
    type: 'object',
    properties,
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Path parameters of a route with `:id`. */
export const ID_PARAMS: Schema<{ readonly id: string }> = object({ id: TEXT });

/** An object whose properties are all optional. */
export function optional<Of extends Properties>(properties: Of): Schema<ObjectOf<Of, string>> {
  return object(properties, Object.keys(properties));
}

/** Checks the named headers; others are ignored. */
export function headers(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties };
}

export const JSON_SCHEMA: Schema<JsonSchema> = { type: ['object', 'boolean'] };
/** The coded reasons that an English message was generated from. */
export const REASONS: Schema = {
  ...listOf(object({ code: TEXT, params: { type: 'object' } })),
  description: 'codes and parameters of the message; absent if another program wrote the message',
};
export const ANNOTATIONS: Schema = optional({
  readonly: FLAG,
  destructive: FLAG,
  idempotent: FLAG,
  requires_approval: FLAG,
  asks_input: { ...FLAG, description: 'the tool may ask its caller for input while it runs' },
});

export const INPUT_ACTION: Schema<InputAction> = enumOf(INPUT_ACTIONS);
/** The name that a client gives to an input request. */
export const INPUT_KEY: Schema<string> = {
  ...TEXT,
  pattern: '^[\\w.-]{1,64}$',
  description:
    'chosen by the client, unique within the attempt: the same request sent again is recorded once',
};
