import { describe, expect, it } from 'vitest';
import { NotStarted } from '../../src/sources/mcp/mcp-connection.ts';
import type { McpUpstreamSettings } from '../../src/sources/mcp/mcp-upstream-settings.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { AConnection, httpSettings, stdioSettings, textOf } from './support/a-connection.ts';
import { SessionServer } from './support/session-server.ts';

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
    const up = await connected(
      stdioSettings('legacy-server.mjs', [], { protocol: 'legacy', inputRequests: true }),
    );
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
