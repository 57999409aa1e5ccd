import { describe, expect, it } from 'vitest';
import { parseConfig } from '../settings/config-file.ts';
import { readPolicy } from './policy-file.ts';

function problemsOf(text: string): string[] {
  const read = readPolicy(text);
  return read.ok ? [] : read.problems.map(({ line, message }) => `${line}: ${message}`);
}

describe('readPolicy', () => {
  it.each([
    ['alone, as YAML', 'default:\n  mode: ask\n', { default: { mode: 'ask' } }],
    ['alone, as JSON', '{"default": {"mode": "ask"}}', { default: { mode: 'ask' } }],
    ['in a config', 'http: {}\npolicy:\n  default: {mode: ask}\n', { default: { mode: 'ask' } }],
    [
      'in a config with devices',
      'policy: {}\ndevices: {registerable: ["phone.*"]}\n',
      { devices: { registerable: ['phone.*'] } },
    ],
    ['in a config without one', 'limits: {drain_ms: 5}\n', {}],
    ['empty', '', {}],
  ])('takes a policy %s', (_where, text, document) => {
    expect(readPolicy(text)).toEqual({ ok: true, document });
  });

  it('checks the rest of a config, too', () => {
    expect(problemsOf('tools: {nope.tool: {timeout_ms: 5}}\npolicy: {}\n')).toEqual([
      expect.stringMatching(/^1: tools\.nope\.tool\.timeout_ms is for tools of this server/),
    ]);
    expect(problemsOf('tools: {phone.ring: {rate: {burst: 1, per_second: 1}}}\n')).toEqual([]);
  });

  it('returns every problem with its line', () => {
    const text = [
      'default:',
      '  mode: maybe',
      '  rules:',
      '    - tools: "pay.*"',
      '      effect: perhaps',
      '    - tools: "*"',
      '      effect: ask',
      '      when:',
      '        - arg: cents',
      '          gt: 5',
      'agents:',
      '  bob: {autoAllow: []}',
      'polcy: {}',
    ].join('\n');
    expect(problemsOf(text)).toEqual([
      '13: polcy is not known; known are default, agents, devices',
      expect.stringMatching(/^12: agents\.bob\.autoAllow is not known; known are mode, /),
      '2: default.mode must be one of auto, ask, deny, custom',
      '5: default.rules.0.effect must be allow, ask or deny',
      '9: default.rules.1.when.0.arg must be a JSON pointer such as /cents',
    ]);
  });

  it('returns the problems of the config around the policy', () => {
    expect(problemsOf('http:\n  allowed_host: []\nlimits:\n  drain_ms: soon\npolicy: {}\n')).toEqual([
      '2: unknown key http.allowed_host; did you mean allowed_hosts?',
      '4: limits.drain_ms must be integer',
    ]);
    expect(problemsOf('limits: {}\npolicy:\n  default:\n    mode: 7\n')).toEqual([
      '4: policy.default.mode must be one of auto, ask, deny, custom',
    ]);
  });

  it('says that problems may be missing after the first twenty', () => {
    const wrong = (count: number): string[] => Array.from({ length: count }, (_, n) => `  key_${n}: 1`);
    const config = (count: number): string => ['http:', ...wrong(count), 'policy: {}'].join('\n');
    expect(problemsOf(config(19))).toHaveLength(19);
    expect(problemsOf(config(25))).toHaveLength(21);
    expect(problemsOf(config(25)).at(-1)).toMatch(
      /^\d+: only the first 20 problems are listed; there may be more$/,
    );
  });

  it('returns syntax errors', () => {
    expect(problemsOf('default: {}\ndefault: {}\n')).toEqual(['2: Map keys must be unique']);
    expect(problemsOf('- a\n')).toEqual(['1: the policy must be an object']);
    expect(problemsOf('a: &a [x]\nb: [*c]\n')[0]).toMatch(/^\d+: /);
  });
});

describe('a config that the server starts with', () => {
  it('is refused for a problem of its policy, with the line', () => {
    expect(() => parseConfig('policy:\n  default:\n    mode: maybe\n', 'c.yaml')).toThrow(
      'c.yaml:3: policy.default.mode must be one of',
    );
  });
});
