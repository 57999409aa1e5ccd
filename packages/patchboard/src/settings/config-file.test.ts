import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from './config-file.ts';

describe('parseConfig', () => {
  it('accepts YAML, JSON and empty text', () => {
    expect(parseConfig('limits:\n  drain_ms: 5\n', 'c.yaml').value).toEqual({ limits: { drain_ms: 5 } });
    expect(parseConfig('{"limits": {"drain_ms": 5}}', 'c.json').value).toEqual({ limits: { drain_ms: 5 } });
    expect(parseConfig('', 'c.yaml').value).toEqual({});
  });

  it.each([
    ['unknown top key', 'http: {}\nnonsense: 1\n', 'c.yaml:2: unknown key nonsense'],
    ['unknown nested key', 'limits:\n  drain_ms: 5\n  drian: 6\n', 'c.yaml:3: unknown key limits.drian'],
    [
      'wrong type',
      'tools:\n  "weather.query":\n    timeout_ms: soon\n',
      'c.yaml:3: tools.weather.query.timeout_ms must be integer',
    ],
    [
      'time limit of a tool that this server does not run',
      'tools:\n  nope.tool:\n    rate: {burst: 1, per_second: 1}\n    timeout_ms: 5\n',
      'c.yaml:4: tools.nope.tool.timeout_ms is for tools of this server, which are weather.query, database.query, calculation.eval',
    ],
    [
      'database of another tool',
      'tools:\n  weather.query:\n    database: ./shop.db\n',
      'c.yaml:3: tools.weather.query.database is for database.query only',
    ],
    [
      'empty list of audiences',
      'auth:\n  jwt:\n    issuer: a\n    audience: []\n',
      'c.yaml:4: auth.jwt.audience must not have fewer than 1 items',
    ],
    [
      'empty audience in a list',
      'auth:\n  jwt:\n    issuer: a\n    audience: [b, ""]\n',
      'c.yaml:4: auth.jwt.audience.1 must not have fewer than 1 characters',
    ],
    [
      'audience that is no text',
      'auth:\n  jwt:\n    issuer: a\n    audience: 5\n',
      'c.yaml:4: auth.jwt.audience must be string',
    ],
    ['duplicate key', 'limits: {}\nlimits: {}\n', 'c.yaml:2: Map keys must be unique'],
    [
      'broken text',
      'limits: {',
      'c.yaml:1: Flow map in block collection must be sufficiently indented and end with a }',
    ],
  ])('%s: reports line and key', (_title, text, message) => {
    expect(() => parseConfig(text, 'c.yaml')).toThrow(ConfigError);
    expect(() => parseConfig(text, 'c.yaml')).toThrow(message);
  });
});
