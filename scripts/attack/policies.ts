import type { Battery } from './battery.ts';
import { faultProblem, refusalProblem, type Target } from './target.ts';

const TOOL = 'calculation.eval';
const AFTERWARDS = 3;

/**
 * Patterns that are expensive to match, from the operator of one tenant: other tenants must be served
 * meanwhile.
 */
export const hostilePolicies: Battery = async (target, tally, { isShort }) => {
  const headers = { ...target.operator, 'x-tenant-id': 'rival' };
  const text = 'a'.repeat(isShort ? 100_000 : 1_000_000);
  const explain = async (glob: string): ReturnType<Target['send']> => {
    const rules = [{ tools: '*', effect: 'deny', when: [{ arg: '/text', glob }] }];
    const body = { tool_name: TOOL, args: { text }, document: { default: { rules } } };
    return await target.send('/v1/policy/explain', { method: 'POST', headers, body });
  };
  for (const glob of [
    `*${'a'.repeat(490)}b`,
    `*b${'a'.repeat(490)}*`,
    `*${'a?'.repeat(240)}b*`,
    '*a'.repeat(240),
  ]) {
    const explained = await explain(glob);
    tally.record(
      `explained ${explained.status}`,
      faultProblem(`the pattern ${glob.slice(0, 10)}`, explained),
    );
  }
  const long = await explain(`*${'a'.repeat(40_000)}b`);
  tally.record(`long ${long.status}`, refusalProblem('a pattern of 40,000 characters', long));
  const patterns = Array.from({ length: isShort ? 2000 : 20_000 }, (_, index) => `a*b${index}*`);
  const document = { default: { autoDenyTools: patterns, autoAllowTools: patterns } };
  const checking = target.send('/v1/policy/check', { method: 'POST', headers, body: { document } });
  for (let round = 0; round < AFTERWARDS; round += 1) {
    const { status } = await target.send('/healthz');
    tally.record(
      `health ${status}`,
      status === 200 ? null : `/healthz was ${status} while a policy was checked`,
    );
  }
  const checked = await checking;
  tally.record(`checked ${checked.status}`, faultProblem('a policy with many patterns', checked));
};
