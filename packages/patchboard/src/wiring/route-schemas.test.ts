import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { CONFIG_SCHEMA } from '../settings/config-schema.ts';
import { DEVICE_FRAMES } from '../transports/device-gateway/frames.ts';
import type { Schema } from '../transports/shared/routes/routes.ts';
import { ROUTES } from './apis.ts';

// Check a schema with the meta-schema and compile it. A server does not check it, and compiles it at the first use.
const strict = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const lenient = new Ajv2020({ strict: false });

describe('the schemas of this repository', () => {
  const parts = ROUTES.flatMap(({ method, url, params, query, headers, body }) =>
    Object.entries({ params, query, headers, body })
      .filter((entry): entry is [string, Schema] => entry[1] !== undefined)
      .map(([part, schema]) => [`${part} of ${method} ${url}`, schema] as const),
  );
  const frames = [...DEVICE_FRAMES].map(([type, { schema }]) => [`frame ${type}`, schema] as const);

  it('are those of all routes and frames', () => {
    expect(parts.length).toBeGreaterThan(50);
    expect(frames.length).toBeGreaterThan(5);
  });

  it.each([...parts, ...frames])('%s is a strict JSON Schema', (_name, schema) => {
    expect(() => strict.compile(schema)).not.toThrow();
  });

  it('the config file has a JSON Schema', () => {
    expect(() => lenient.compile(CONFIG_SCHEMA)).not.toThrow();
  });

  it('a wrong schema would fail', () => {
    expect(() => strict.compile({ type: 'text' })).toThrow(/schema is invalid/);
  });
});
