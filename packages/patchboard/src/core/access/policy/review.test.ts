import { describe, expect, it } from 'vitest';
import { decodePolicy } from './document.ts';
import { reviewPolicy, type PolicyReview, type PolicyContext } from './review.ts';

const TOOLS = ['database.query', 'database.write', 'weather.query', 'notes_add'];

async function review(document: unknown, context: Partial<PolicyContext> = {}): Promise<PolicyReview> {
  const decoded = decodePolicy(document);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems));
  const pause = async (): Promise<void> => await Promise.resolve();
  return await reviewPolicy(decoded.policy, { tools: TOOLS, agents: null, ...context }, pause);
}

describe('the review of a policy', () => {
  it('warns of a pattern that matches no tool, and suggests a similar name', async () => {
    const { warnings, matches } = await review({
      default: {
        requireApprovalTools: ['database.qery', 'databse.*', 'phone.ring'],
        toolToggles: { weather: false, wether: false },
      },
    });
    const rule = (index: number): string => `default.requireApprovalTools[${index}]`;
    expect(warnings).toEqual([
      {
        code: 'pattern_matches_nothing',
        params: { rule: 'default.toolToggles', pattern: 'wether', meant: 'weather' },
      },
      {
        code: 'pattern_matches_nothing',
        params: { rule: rule(0), pattern: 'database.qery', meant: 'database.query' },
      },
      {
        code: 'pattern_matches_nothing',
        params: { rule: rule(1), pattern: 'databse.*', meant: 'database.*' },
      },
      { code: 'pattern_matches_nothing', params: { rule: rule(2), pattern: 'phone.ring' } },
    ]);
    expect(matches[0]).toEqual({
      rule: 'default.toolToggles',
      pattern: 'weather',
      count: 1,
      tools: ['weather.query'],
    });
  });

  it('counts the tools that each pattern matches, and names the first ten', async () => {
    const tools = Array.from({ length: 12 }, (_, index) => `phone.tool${String(index).padStart(2, '0')}`);
    const { matches, warnings } = await review(
      { agents: { bob: { rules: [{ tools: ['phone.*', '*.tool03'], effect: 'ask' }] } } },
      { tools },
    );
    expect(warnings).toEqual([]);
    expect(matches).toEqual([
      { rule: 'agents.bob.rules[0]', pattern: 'phone.*', count: 12, tools: tools.slice(0, 10) },
      { rule: 'agents.bob.rules[0]', pattern: '*.tool03', count: 1, tools: ['phone.tool03'] },
    ]);
  });

  it('warns of an agent without a credential, if callers need credentials', async () => {
    const document = { agents: { bob: {}, carol: {} } };
    expect((await review(document, { agents: null })).warnings).toEqual([]);
    expect((await review(document, { agents: new Set(['carol', 'operator']) })).warnings).toEqual([
      { code: 'agent_without_key', params: { rule: 'agents.bob', agent: 'bob' } },
    ]);
  });

  it.each([
    [
      'a deny list before an allow list',
      { autoDenyTools: ['database.*'], autoAllowTools: ['database.query'] },
      1,
    ],
    ['an allow list before an ask list', { autoAllowTools: ['*'], requireApprovalTools: ['database.*'] }, 1],
    ['a list before the mode', { autoAllowTools: ['*'], mode: 'deny' }, 1],
    ['a switch before a list', { toolToggles: { database: false }, autoAllowTools: ['database.query'] }, 1],
    ['the same twice', { autoAllowTools: ['database.query', 'database.query'] }, 1],
    [
      'a rule before a list',
      { rules: [{ tools: 'weather.*', effect: 'allow' }], requireApprovalTools: ['weather.query'] },
      1,
    ],
    [
      'not by a rule that looks at the arguments',
      {
        rules: [{ tools: 'weather.*', effect: 'deny', when: [{ arg: '/city', equals: 'x' }] }],
        requireApprovalTools: ['weather.query'],
      },
      0,
    ],
    [
      'not if a future tool may match only the later one',
      { autoDenyTools: ['database.query'], autoAllowTools: ['database.*'] },
      0,
    ],
    [
      'not by a switch that is on',
      { toolToggles: { database: true }, autoAllowTools: ['database.query'] },
      0,
    ],
    [
      'not by what only looks alike',
      { autoDenyTools: ['?atabase.query'], autoAllowTools: ['*atabase.query'] },
      0,
    ],
  ])('warns of a line shadowed by an earlier one: %s', async (_which, agent, count) => {
    const { warnings } = await review({ default: agent });
    expect(warnings.map(({ code }) => code)).toEqual(Array.from({ length: count }, () => 'rule_shadowed'));
  });

  it('pauses after each pattern, and reviews only the first thousand', async () => {
    const autoAllowTools = Array.from({ length: 1500 }, (_, index) => `phone${index}.*`);
    const decoded = decodePolicy({ default: { autoAllowTools } });
    if (!decoded.ok) throw new Error('the policy is not valid');
    let pauses = 0;
    const pause = async (): Promise<void> => {
      pauses += 1;
      await Promise.resolve();
    };
    const { matches } = await reviewPolicy(decoded.policy, { tools: TOOLS, agents: null }, pause);
    expect([pauses, matches.length]).toEqual([1000, 1000]);
  });

  it('names the line that is evaluated first', async () => {
    const { warnings } = await review({
      agents: { bob: { autoDenyTools: ['database.*'], requireApprovalTools: ['database.query'] } },
    });
    expect(warnings).toEqual([
      {
        code: 'rule_shadowed',
        params: {
          rule: 'agents.bob.requireApprovalTools[0]',
          pattern: 'database.query',
          by: 'agents.bob.autoDenyTools[0]',
          by_pattern: 'database.*',
        },
      },
    ]);
  });
});
