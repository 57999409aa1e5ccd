import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NotStarted, ResponseTooLarge } from '../../src/sources/mcp/mcp-connection.ts';
import type { McpUpstreamSettings } from '../../src/sources/mcp/mcp-upstream-settings.ts';
import { aFolder } from '../support/a-folder.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { AConnection, httpSettings, stdioSettings, textOf } from './support/a-connection.ts';
import { SessionServer } from './support/session-server.ts';

const ASKING = { protocol: 'legacy', inputRequests: true } as const;
const closing = closedAfterEach();

async function connected(settings: McpUpstreamSettings): Promise<AConnection> {
  const up = new AConnection(settings).start();
  closing(() => up.connection.close());
  return await up.online();
}

/** Responds with the question that it was asked, once `go` resolves. */
function answering(asked: string[], go: Promise<void> = Promise.resolve()) {
  return async (method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> => {
    asked.push(`${method}: ${String(params['message'])}`);
    await go;
    return { action: 'accept', content: { said: params['message'] } };
  };
}

describe('a session of an older server', () => {
  // The specification says 404, and many servers respond with 400.
  it.each([404, 400])(
    'that the server forgot (%i) is opened again; the request was not started',
    async (status) => {
      const server = await new SessionServer().listen();
      server.statusOfUnknown = status;
      const up = await connected(httpSettings(server.url));
      expect(up.connection.era).toBe('legacy');
      const first = textOf(await up.call('whoami'));
      server.sessions.clear();
      const error: unknown = await up.call('whoami').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NotStarted);
      expect(error).toMatchObject({ mayRetry: true, status });
      const second = textOf(await up.call('whoami'));
      expect(second).not.toBe(first);
      expect(server.calls).toEqual([first, second]);
    },
  );

  it('does not keep the connection open when it is closed, with requests in all sessions', async () => {
    const server = await new SessionServer().listen();
    const up = await connected(httpSettings(server.url, { inputRequests: true }));
    const asked: string[] = [];
    const never = new Promise<void>(() => {});
    const calls = ['q0', 'q1'].map((question) =>
      up.call('ask', { question }, { onServerRequest: answering(asked, never) }),
    );
    const settled = Promise.allSettled(calls);
    await waitFor(() => expect(asked).toHaveLength(2));
    await up.connection.close();
    expect((await settled).map((one) => one.status === 'rejected' && String(one.reason))).toEqual(
      calls.map(() => 'ConnectionLost: the connection was closed before the response arrived'),
    );
  });

  it('is ended at the server when the connection is closed', async () => {
    const server = await new SessionServer().listen();
    const up = await connected(httpSettings(server.url));
    expect(server.sessions.size).toBe(1);
    await up.connection.close();
    expect(server.sessions.size).toBe(0);
  });

  it('reports that the tools changed', async () => {
    const server = await new SessionServer().listen();
    const up = await connected(httpSettings(server.url));
    await waitFor(() => expect(up.lists).toHaveLength(1));
    await server.changeTools(['other']);
    await waitFor(() => expect(up.lists.at(-1)?.tools.map(({ name }) => name)).toEqual(['other']));
    expect(up.lists.at(-1)).toMatchObject({
      omitted: 0,
      isComplete: true,
      server: { name: 'sessions', version: '1.0' },
    });
  });
});

describe('a request of an older server', () => {
  it.each(['ask', 'askAside'])(
    'reaches the caller of the tool "%s", also with several callers',
    async (tool) => {
      const server = await new SessionServer().listen();
      const up = await connected(httpSettings(server.url, { inputRequests: true }));
      const asked = Array.from({ length: 6 }, (): string[] => []);
      const responses = await Promise.all(
        asked.map((mine, index) =>
          up.call(tool, { question: `q${index}` }, { onServerRequest: answering(mine) }),
        ),
      );
      expect(asked).toEqual(asked.map((_, index) => [`elicitation/create: q${index}`]));
      expect(responses.map((response) => JSON.parse(textOf(response)) as unknown)).toEqual(
        asked.map((_, index) => ({ action: 'accept', content: { said: `q${index}` } })),
      );
      expect(server.sessions.size).toBeLessThanOrEqual(4);
    },
  );

  it('waits for a session of its own, of which there are four', async () => {
    const server = await new SessionServer().listen();
    const up = await connected(httpSettings(server.url, { inputRequests: true }));
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const asked: string[] = [];
    const calls = Array.from({ length: 5 }, (_, index) =>
      up.call('ask', { question: `q${index}` }, { onServerRequest: answering(asked, gate) }),
    );
    await waitFor(() => expect(asked).toHaveLength(4));
    expect(new Set(server.calls).size).toBe(4);
    const controller = new AbortController();
    const sixth = up.call(
      'ask',
      { question: 'late' },
      { onServerRequest: answering(asked), signal: controller.signal },
    );
    controller.abort(new Error('deadline'));
    await expect(sixth).rejects.toThrow('deadline');
    go();
    await Promise.all(calls);
    expect(server.calls).toHaveLength(5);
    // One after the other, requests stay in the first session.
    const [first] = server.calls;
    for (let count = 0; count < 2; count += 1)
      expect(textOf(await up.call('whoami', {}, { onServerRequest: answering([]) }))).toBe(first);
  });

  it('is refused without a caller that responds, and without the setting', async () => {
    const server = await new SessionServer().listen();
    const allowed = await connected(httpSettings(server.url, { inputRequests: true }));
    expect(await allowed.call('askAside', { question: 'q' })).toMatchObject({ kind: 'error' });
    const forbidden = await connected(httpSettings(server.url, { inputRequests: false }));
    const asked: string[] = [];
    expect(
      await forbidden.call('askAside', { question: 'q' }, { onServerRequest: answering(asked) }),
    ).toMatchObject({ kind: 'error' });
    expect(asked).toEqual([]);
  });

  it('of a process goes to one caller at a time; its roots are empty', async () => {
    const up = await connected(stdioSettings('legacy-server.mjs', [], ASKING));
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const asked: string[][] = [[], []];
    const calls = asked.map((mine, index) =>
      up.call('ask', { question: `q${index}` }, { onServerRequest: answering(mine, gate) }),
    );
    await waitFor(() => expect(asked[0]).toHaveLength(1));
    expect(asked[1]).toEqual([]);
    go();
    await Promise.all(calls);
    expect(asked).toEqual([['elicitation/create: q0'], ['elicitation/create: q1']]);
    expect(JSON.parse(textOf(await up.call('roots')))).toEqual({ roots: [] });
  });
});

describe('a request of an older server for a call that was cancelled', () => {
  /** Cancels a call of `askLate` that is under way. */
  async function cancelled(up: AConnection, hasBegun: () => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const call = up.call(
      'askLate',
      { question: 'late' },
      { onServerRequest: answering([]), signal: controller.signal },
    );
    await hasBegun();
    controller.abort(new Error('cancelled'));
    await expect(call).rejects.toThrow('cancelled');
  }

  it('is refused, and reaches no later caller', async () => {
    const server = await new SessionServer().listen();
    const up = await connected(httpSettings(server.url, { inputRequests: true }));
    await cancelled(up, () => waitFor(() => expect(server.calls).toHaveLength(1)));
    const asked: string[] = [];
    const next = up.call('wait', {}, { onServerRequest: answering(asked) });
    await waitFor(() => expect(server.calls).toHaveLength(2));
    server.goOn();
    await next;
    await waitFor(() => expect(server.lateOutcomes).toHaveLength(1));
    expect(asked).toEqual([]);
    expect(server.lateOutcomes[0]).toContain('No caller can respond to this request.');
    // Requests without a caller that responds stay in the first session.
    expect(textOf(await up.call('whoami'))).toBe(server.calls[0]);
  });

  it('ends with the session, if that is not the first one', async () => {
    const server = await new SessionServer().listen();
    const up = await connected(httpSettings(server.url, { inputRequests: true }));
    const first = up.call('wait', {}, { onServerRequest: answering([]) });
    await waitFor(() => expect(server.calls).toHaveLength(1));
    await cancelled(up, () => waitFor(() => expect(server.calls).toHaveLength(2)));
    await waitFor(() => expect([...server.sessions.keys()]).toEqual([server.calls[0]]));
    server.goOn();
    await first;
  });

  it('ends with the session only after the server got the cancellation', async () => {
    const server = await new SessionServer().listen();
    const up = await connected(httpSettings(server.url, { inputRequests: true }));
    let arrive = (): void => {};
    server.cancelDelay = new Promise((resolve) => (arrive = resolve));
    const first = up.call('wait', {}, { onServerRequest: answering([]) });
    await waitFor(() => expect(server.calls).toHaveLength(1));
    await cancelled(up, () => waitFor(() => expect(server.calls).toHaveLength(2)));
    const id = server.calls[1];
    // The end of the session is not sent meanwhile, in which a call makes its way.
    await up.call('whoami');
    expect(server.received).toEqual([]);
    arrive();
    await waitFor(() => expect(server.received).toEqual([`${id} cancelled`, `${id} DELETE`]));
    server.goOn();
    await first;
  });

  it('of a process is refused during the next call, and the process is replaced after it', async () => {
    const journal = join(await aFolder(), 'journal');
    const up = await connected(stdioSettings('legacy-server.mjs', [journal], ASKING));
    const before = textOf(await up.call('pid'));
    await cancelled(up, () => waitFor(() => expect(readFileSync(journal, 'utf8')).toContain('hang')));
    const asked: string[] = [];
    const pid = async (): Promise<string> =>
      textOf(await up.call('pid', {}, { onServerRequest: answering(asked) }));
    expect(await pid()).toBe(before);
    expect(await pid()).not.toBe(before);
    expect(asked).toEqual([]);
    await up.call('ask', { question: 'q' }, { onServerRequest: answering(asked) });
    expect(asked).toEqual(['elicitation/create: q']);
  });

  it('does not come from a process that never asks, which is used again', async () => {
    const up = await connected(stdioSettings('legacy-server.mjs', [], ASKING));
    const before = textOf(await up.call('pid'));
    const controller = new AbortController();
    const call = up.call('hang', {}, { onServerRequest: answering([]), signal: controller.signal });
    controller.abort(new Error('cancelled'));
    await expect(call).rejects.toThrow('cancelled');
    for (let count = 0; count < 2; count += 1)
      expect(textOf(await up.call('pid', {}, { onServerRequest: answering([]) }))).toBe(before);
  });

  it('cannot come from a process that confirmed the end of the call: the next caller is asked', async () => {
    const journal = join(await aFolder(), 'journal');
    const up = await connected(stdioSettings('legacy-server.mjs', [journal, 'confirms-cancel'], ASKING));
    const before = textOf(await up.call('pid'));
    await cancelled(up, () => waitFor(() => expect(readFileSync(journal, 'utf8')).toContain('hang')));
    const asked: string[] = [];
    await up.call('ask', { question: 'q' }, { onServerRequest: answering(asked) });
    expect(asked).toEqual(['elicitation/create: q']);
    expect(textOf(await up.call('pid', {}, { onServerRequest: answering([]) }))).toBe(before);
  });

  it('cannot come for a call whose response was too large: the next caller is asked', async () => {
    const up = await connected(stdioSettings('legacy-server.mjs', [], ASKING));
    const before = textOf(await up.call('pid'));
    const large = up.call('large', { bytes: 5 * 1024 * 1024 }, { onServerRequest: answering([]) });
    await expect(large).rejects.toBeInstanceOf(ResponseTooLarge);
    const asked: string[] = [];
    await up.call('ask', { question: 'q' }, { onServerRequest: answering(asked) });
    expect(asked).toEqual(['elicitation/create: q']);
    expect(textOf(await up.call('pid', {}, { onServerRequest: answering([]) }))).toBe(before);
  });
});
