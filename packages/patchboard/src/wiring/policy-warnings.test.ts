import { expect, it } from 'vitest';
import { logPolicyWarnings } from './policy-warnings.ts';

/** Returns what a server with the tools `toy.echo` and `gitlab.search` and this policy logs. */
async function loggedFor(document: unknown): Promise<unknown[]> {
  const logged: unknown[] = [];
  await logPolicyWarnings(
    {
      engine: { toolIndex: { names: () => new Set(['toy.echo', 'gitlab.search']).values() } },
      policies: { current: () => ({ version: 0, document, changedAt: null, changedBy: 'config' }) },
      log: { warn: (event, fields) => void logged.push({ event, ...fields }) },
    },
    (pattern) => pattern.startsWith('github.'),
  );
  return logged;
}

it('logs a pattern that matches nothing, if a tool has a similar name', async () => {
  const logged = await loggedFor({ default: { requireApprovalTools: ['toy.ecoh', 'phone.ring'] } });
  expect(logged).toMatchObject([{ event: 'policy.warning', pattern: 'toy.ecoh', meant: 'toy.echo' }]);
});

it('logs no pattern of the tools of an upstream, which is connected later', async () => {
  const logged = await loggedFor({ default: { requireApprovalTools: ['github.search', 'gitlub.search'] } });
  expect(logged).toMatchObject([{ pattern: 'gitlub.search' }]);
});

it('logs a rule that never applies', async () => {
  const logged = await loggedFor({
    default: { autoDenyTools: ['toy.*'], requireApprovalTools: ['toy.echo'] },
  });
  expect(logged).toMatchObject([{ code: 'rule_shadowed' }]);
});

it('logs nothing of a policy that cannot be read: every call is denied, which is logged elsewhere', async () => {
  expect(await loggedFor({ default: { mode: 'maybe' } })).toEqual([]);
});
