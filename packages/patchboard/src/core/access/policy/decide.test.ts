import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePolicy, mayEverCall } from './decide.ts';
import { decodePolicy, EMPTY_POLICY, type PolicyDocument } from './document.ts';
import { matchesGlob } from './glob.ts';

function policy(value: unknown): PolicyDocument {
  const decoded = decodePolicy(value);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems));
  return decoded.policy;
}

function effect(
  document: PolicyDocument,
  toolName: string,
  given: { agentId?: string; args?: unknown; annotations?: object } = {},
) {
  return decidePolicy(document, { agentId: 'a', toolName, annotations: {}, args: {}, ...given });
}

describe('decidePolicy', () => {
  it('without a policy lets annotations decide', () => {
    expect(effect(EMPTY_POLICY, 't')).toMatchObject({ effect: 'allow', rule: 'annotations' });
    expect(effect(EMPTY_POLICY, 't', { annotations: { destructive: true } }).effect).toBe('ask');
    expect(effect(EMPTY_POLICY, 't', { annotations: { requires_approval: true } }).effect).toBe('ask');
  });

  it.each([
    ['auto', 'allow'],
    ['ask', 'ask'],
    ['deny', 'deny'],
    ['custom', 'ask'],
  ])('mode %s means %s', (mode, expected) => {
    expect(effect(policy({ default: { mode } }), 't', { annotations: { destructive: true } }).effect).toBe(
      expected,
    );
  });

  it('evaluates deny, then allow, then ask, then mode', () => {
    const document = policy({
      agents: {
        a: {
          mode: 'deny',
          autoDenyTools: ['x.*'],
          autoAllowTools: ['x.*', 'y.*'],
          requireApprovalTools: ['x.*', 'y.*', 'z'],
        },
      },
    });
    expect(effect(document, 'x.1')).toMatchObject({ effect: 'deny', rule: 'agents.a.autoDenyTools[0]' });
    expect(effect(document, 'x.1').alsoMatched.map((step) => step.effect)).toEqual(['allow', 'ask', 'deny']);
    expect(effect(document, 'y.1')).toMatchObject({ effect: 'allow', rule: 'agents.a.autoAllowTools[1]' });
    expect(effect(document, 'z')).toMatchObject({ effect: 'ask' });
    expect(effect(document, 'q')).toMatchObject({ effect: 'deny', rule: 'agents.a.mode' });
    expect(effect(document, 'q', { agentId: 'b' })).toMatchObject({ effect: 'allow' });
  });

  it('requires approval when an amount exceeds a bound', () => {
    const document = policy({
      default: {
        autoAllowTools: ['pay'],
        rules: [
          { tools: 'pay', effect: 'ask', when: [{ arg: '/cents', gt: 10000 }], reason: 'large sum' },
          { tools: ['pay'], effect: 'deny', when: [{ arg: '/to/iban', prefix: 'XX' }] },
        ],
      },
    });
    expect(effect(document, 'pay', { args: { cents: 10000 } }).effect).toBe('allow');
    expect(effect(document, 'pay', { args: { cents: 10001 } })).toMatchObject({
      effect: 'ask',
      reason: 'large sum',
    });
    expect(effect(document, 'pay', { args: { cents: 10001, to: { iban: 'XX1' } } }).effect).toBe('deny');
    expect(effect(document, 'pay', { args: { cents: 'many' } }).effect).toBe('allow');
  });

  it.each([
    [{ arg: '/a', equals: { b: [1] } }, { a: { b: [1] } }, true],
    [{ arg: '/a', equals: { b: [1] } }, { a: { b: [2] } }, false],
    [{ arg: '/a~1b', equals: 1 }, { 'a/b': 1 }, true],
    [{ arg: '/a', glob: '*.sh' }, { a: 'x.sh' }, true],
    [{ arg: '/a', glob: '*.sh' }, { a: 1 }, false],
    [{ arg: '/a', gte: 1, lte: 2 }, { a: 2 }, true],
    [{ arg: '/a', gte: 1, lt: 2 }, { a: 2 }, false],
    [{ arg: '/__proto__/x', equals: 1 }, {}, false],
    [{ arg: '/constructor', glob: '*' }, {}, false],
    [{ arg: '/0', equals: 7 }, [7], true],
  ])('%j on %j', (predicate, args, expected) => {
    const document = policy({
      default: { mode: 'auto', rules: [{ tools: '*', effect: 'ask', when: [predicate] }] },
    });
    expect(effect(document, 't', { args }).effect).toBe(expected ? 'ask' : 'allow');
  });

  it('applies tool toggles', () => {
    const document = policy({
      default: {
        mode: 'auto',
        toolToggles: { files: true, web: false, web_search: true },
        defaultToolEnabled: false,
      },
    });
    expect(effect(document, 'files_read').effect).toBe('allow');
    expect(effect(document, 'web_fetch').effect).toBe('deny');
    expect(effect(document, 'web_search').effect).toBe('allow');
    expect(effect(document, 'other').effect).toBe('deny');
  });
});

describe('mayEverCall', () => {
  // Conditions that exclude each other are not analysed: then the tool is listed, and a call of it is denied.
  it('hides a tool only if it is always denied, and always then unless a deny rule has a condition', () => {
    const names = ['a.x', 'a.y', 'b'];
    const patterns = fc.subarray(['a.*', 'a.x', 'b', '*', '?']);
    const rule = fc.record({
      tools: fc.constantFrom('a.*', 'b', '*'),
      effect: fc.constantFrom('allow', 'ask', 'deny'),
      when: fc.constantFrom([], [{ arg: '/n', gt: 0 }]),
    });
    const agent = fc.record({
      mode: fc.constantFrom('auto', 'ask', 'deny', 'custom'),
      autoAllowTools: patterns,
      requireApprovalTools: patterns,
      autoDenyTools: patterns,
      rules: fc.array(rule, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(agent, (given) => {
        const document = policy({ default: given });
        for (const name of names) {
          const possible = [{ n: 0 }, { n: 1 }].some(
            (args) => effect(document, name, { args }).effect !== 'deny',
          );
          const listed = mayEverCall(document, 'a', name);
          if (possible) expect(listed).toBe(true);
          const plain = given.rules.every((one) => one.effect !== 'deny' || one.when.length === 0);
          if (plain) expect(listed).toBe(possible);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('decodePolicy', () => {
  it.each([
    [{ agents: { a: { mode: 'maybe' } } }, '/agents/a/mode'],
    [{ agents: { a: { autoAllow: [] } } }, '/agents/a/autoAllow'],
    [{ polcy: {} }, '/polcy'],
    [{ default: { rules: [{ tools: 'x', effect: 'perhaps' }] } }, '/default/rules/0/effect'],
    [
      { default: { rules: [{ tools: 'x', effect: 'ask', when: [{ arg: 'cents', gt: 1 }] }] } },
      '/default/rules/0/when/0/arg',
    ],
    [
      { default: { rules: [{ tools: 'x', effect: 'ask', when: [{ arg: '/c' }] }] } },
      '/default/rules/0/when/0',
    ],
    [{ default: { autoDenyTools: 'x' } }, '/default/autoDenyTools'],
    ['text', ''],
  ])('refuses %j at %s', (value, path) => {
    const decoded = decodePolicy(value);
    expect(decoded.ok ? [] : decoded.problems.map((problem) => problem.path)).toContain(path);
  });
});

describe('matchesGlob', () => {
  it('agrees with a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (glob, value) => {
        const source = glob.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
        expect(matchesGlob(glob, value)).toBe(new RegExp(`^${source}$`).test(value));
      }),
      { numRuns: 3000 },
    );
  });
});
