import { CONSOLE_PAGES, type CurrentSessionView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { mayDo, mayOpen, scopesOfPage } from './rights.ts';

const aKey = (scopes: readonly string[], tenant = 'default'): CurrentSessionView => ({
  kind: 'key',
  name: 'auditor',
  tenant,
  scopes,
  expires_at: null,
  key_id: 'key_1',
  principal_kind: 'service',
});

const pagesOf = (session: CurrentSessionView | null): string[] =>
  CONSOLE_PAGES.filter((page) => mayOpen(session, page));

describe('the pages of a session', () => {
  it('are those that its scopes open', () => {
    const auditor = pagesOf(aKey(['calls:read', 'ledger:read']));
    expect(auditor).toEqual(
      CONSOLE_PAGES.filter((page) =>
        ['calls', 'runs', 'resources', 'ledger', 'metrics', 'settings'].includes(page),
      ),
    );
    expect(pagesOf(aKey(['policy:write']))).toEqual(['agents', 'settings']);
    expect(pagesOf(aKey([]))).toEqual(['settings']);
  });

  it('are all for operators, in local mode, and until it is known', () => {
    const scopes = ['calls:read'];
    for (const session of [null, { ...aKey(scopes), kind: 'operator' }, { ...aKey(scopes), kind: 'local' }])
      expect(pagesOf(session as CurrentSessionView | null)).toEqual([...CONSOLE_PAGES]);
  });

  it('do not include those of the whole server for a key of another tenant', () => {
    expect(mayOpen(aKey(['metrics:read']), 'nodes')).toBe(true);
    expect(mayOpen(aKey(['metrics:read'], 'acme'), 'nodes')).toBe(false);
    expect(mayOpen(aKey(['metrics:read'], 'acme'), 'devices')).toBe(true);
  });

  it('have a row each, and only the settings are for everybody', () => {
    expect(CONSOLE_PAGES.filter((page) => scopesOfPage(page).length === 0)).toEqual(['settings']);
  });
});

describe('the actions of a session', () => {
  it('follow its scopes; what needs the operator token is not for keys', () => {
    const all = aKey(['tools:call', 'policy:write', 'operator-like']);
    expect([mayDo(all, 'callTools'), mayDo(all, 'managePolicy'), mayDo(all, 'decide')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(mayDo(all, 'manageUpstreams')).toBe(false);
    expect(mayDo(null, 'manageUpstreams')).toBe(true);
  });
});
