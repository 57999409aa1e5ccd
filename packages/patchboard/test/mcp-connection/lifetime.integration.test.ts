import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NotStarted } from '../../src/sources/mcp/mcp-connection.ts';
import { aFolder } from '../support/a-folder.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { waitFor } from '../support/wait-for.ts';
import { AConnection, httpSettings, stdioSettings } from './support/a-connection.ts';
import { ScriptedServer, sendResult, stream, type Respond } from './support/scripted-server.ts';
import { aWebServer } from './support/web-server.ts';

const closing = closedAfterEach();
const ok: Respond = (response, { id }) => sendResult(response, id, { content: [] });

function started(...options: ConstructorParameters<typeof AConnection>): AConnection {
  const up = new AConnection(...options).start();
  closing(() => up.connection.close());
  return up;
}

async function aStoppedServer(): Promise<ScriptedServer> {
  const server = await new ScriptedServer({ ok }).listen();
  await server.stop();
  return server;
}

const errorOf = async (work: Promise<unknown>): Promise<unknown> =>
  await work.catch((error: unknown) => error);

describe('a server that is not there', () => {
  it('is tried with back-off, from half a second to a minute, until it is there', async () => {
    const clock = new FakeClock();
    const server = await aStoppedServer();
    // Jitter takes up to half of the delay away; this one nearly nothing.
    const up = started(httpSettings(server.url), { clock, random: () => 1 - Number.EPSILON });
    const delays: number[] = [];
    for (let attempt = 0; attempt < 9; attempt += 1) {
      const at = await waitFor(() => {
        const { nextAttemptAt } = up.connection.status();
        if (nextAttemptAt === null) throw new Error('no attempt is planned');
        return nextAttemptAt;
      });
      delays.push(Math.round(at - clock.now()));
      if (attempt === 8) await server.listen();
      await clock.advance(at - clock.now());
    }
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    await up.online();
    expect(up.states).toEqual(['disconnected', 'connected']);
    expect(up.connection.status()).toMatchObject({
      state: 'connected',
      lastError: null,
      connectedAt: clock.now(),
    });
  });

  it('lets a request wait for five seconds; it was not started', async () => {
    const clock = new FakeClock();
    const server = await aStoppedServer();
    const up = started(httpSettings(server.url), { clock });
    const pending = errorOf(up.call('ok'));
    await waitFor(() => expect(up.connection.status().lastError?.message).toContain('ECONNREFUSED'));
    for (let second = 0; second < 5; second += 1) {
      await waitFor(() => expect(up.connection.status().nextAttemptAt).not.toBeNull());
      await clock.advance(1_000);
    }
    const error = await pending;
    expect(error).toBeInstanceOf(NotStarted);
    expect(error).toMatchObject({ mayRetry: true });
    expect(String(error)).toContain('ECONNREFUSED');
  });

  it('is tried at once when a request comes', async () => {
    const clock = new FakeClock();
    const server = await aStoppedServer();
    const up = started(httpSettings(server.url), { clock });
    await waitFor(() => expect(up.connection.status().nextAttemptAt).not.toBeNull());
    await server.listen();
    clock.pass(499);
    const pending = up.call('ok');
    await clock.advance(1);
    expect(await pending).toMatchObject({ kind: 'result' });
  });

  it('whose command does not exist is tried again, and the status says why', async () => {
    const settings = stdioSettings('legacy-server.mjs');
    const transport = {
      ...settings.transport,
      command: '/nowhere/s3cret-value',
    } as typeof settings.transport;
    const up = started({ ...settings, transport }, { clock: new FakeClock() });
    await waitFor(() => expect(up.connection.status().nextAttemptAt).not.toBeNull());
    expect(up.connection.status()).toMatchObject({ state: 'disconnected' });
    expect(up.connection.status().lastError?.message).toBe(
      'the command could not be started: spawn /nowhere/[redacted] ENOENT',
    );
  });

  it('whose working directory does not exist: the status names the folder', async () => {
    const settings = stdioSettings('legacy-server.mjs');
    const transport = { ...settings.transport, cwd: '/nowhere/else' } as typeof settings.transport;
    const up = started({ ...settings, transport }, { clock: new FakeClock() });
    await waitFor(() => expect(up.connection.status().nextAttemptAt).not.toBeNull());
    expect(up.connection.status().lastError?.message).toBe(
      'the command could not be started: its working directory /nowhere/else does not exist',
    );
  });

  it.each([
    [404, 'the URL responds with HTTP 404: '],
    [200, 'the URL responds with neither JSON nor an event stream: '],
  ])('but a web page with status %i is: the status says so', async (status, message) => {
    const page = await aWebServer((_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<p>Hello</p>'),
    );
    const up = started(httpSettings(page.url), { clock: new FakeClock() });
    await waitFor(() => expect(up.connection.status().nextAttemptAt).not.toBeNull());
    expect(up.connection.status().lastError?.message).toBe(
      `${message}check that it is the URL of an MCP server, with its path`,
    );
  });
});

describe('a process that ends again and again', () => {
  it('is not started a sixth time within a minute, until it is restarted', async () => {
    const clock = new FakeClock();
    const journal = join(await aFolder(), 'journal');
    const settings = stdioSettings('legacy-server.mjs', [journal, 'exits-at-start'], { protocol: 'legacy' });
    const up = started(settings, { clock });
    const starts = (): number => readFileSync(journal, 'utf8').trim().split('\n').length;
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await waitFor(() => expect(up.connection.status().nextAttemptAt).not.toBeNull());
      await clock.advance(4_000);
    }
    await waitFor(() => expect(up.connection.status().state).toBe('failed'));
    expect(starts()).toBe(5);
    expect(up.connection.status().lastError?.message).toContain('exit code 3');
    expect(await errorOf(up.call('echo'))).toMatchObject({ name: 'NotStarted', mayRetry: false });
    await clock.advance(120_000);
    expect(starts()).toBe(5);

    await up.connection.restart();
    await waitFor(() => expect(starts()).toBe(6));
    const states = ['disconnected', 'failed', 'connecting', 'disconnected'];
    await waitFor(() => expect(up.states).toEqual(states));
  });
});

describe('a connection that is restarted', () => {
  it('rejects what was not sent meanwhile, so that it may be sent again', async () => {
    const up = await started(stdioSettings('legacy-server.mjs', [], { protocol: 'legacy' })).online();
    const restarting = up.connection.restart();
    expect(await errorOf(up.call('echo'))).toMatchObject({ name: 'NotStarted', mayRetry: true });
    await restarting;
    expect(await up.call('echo')).toMatchObject({ kind: 'result' });
    await up.connection.close();
    expect(await errorOf(up.call('echo'))).toMatchObject({ name: 'NotStarted', mayRetry: false });
  });
});

describe('an upstream', () => {
  it('that is this server itself is refused', async () => {
    const server = await new ScriptedServer({ ok }).listen();
    server.discovery = { _meta: { 'patchboard/instance': 'this-instance' } };
    const up = started(httpSettings(server.url));
    await waitFor(() => expect(up.connection.status().state).toBe('failed'));
    expect(up.connection.status().lastError?.message).toContain('this server itself');
    expect(up.lists).toEqual([]);
  });

  it('that another instance is behind is connected', async () => {
    const server = await new ScriptedServer({ ok }).listen();
    server.discovery = { _meta: { 'patchboard/instance': 'another-instance' } };
    await started(httpSettings(server.url)).online();
  });

  it('of 2026-07-28 reports changes of its tools on a subscription, which is opened again', async () => {
    const server = await new ScriptedServer({ ok }).listen();
    server.discovery = { capabilities: { tools: { listChanged: true } } };
    const subscriptions: (() => void)[] = [];
    const ends: (() => void)[] = [];
    server.first = (response, { id, method }) => {
      if (method !== 'subscriptions/listen') return false;
      const event = stream(response);
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
      event({
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta, notifications: { toolsListChanged: true } },
      });
      subscriptions.push(() => event({ method: 'notifications/tools/list_changed', params: { _meta } }));
      ends.push(() => response.end());
      return true;
    };
    const clock = new FakeClock();
    const up = await started(httpSettings(server.url), { clock }).online();
    const untilListed = async (count: number, opened: number): Promise<void> => {
      await waitFor(async () => {
        await clock.advance(1_000);
        expect(up.lists.length).toBeGreaterThanOrEqual(count);
        expect(subscriptions).toHaveLength(opened);
      });
    };
    // Once when it connects, and once when the subscription is open: the tools may have changed in between.
    await untilListed(2, 1);
    subscriptions[0]?.();
    await untilListed(3, 1);
    ends[0]?.();
    await untilListed(4, 2);
  });

  it('is listed again after ten minutes, and at its ttl', async () => {
    const clock = new FakeClock();
    const server = await new ScriptedServer({ ok }).listen();
    const up = await started(httpSettings(server.url), { clock }).online();
    await waitFor(() => expect(up.lists).toHaveLength(1));
    await clock.advance(599_000);
    expect(up.lists).toHaveLength(1);
    server.first = (response, { id, method }) => {
      if (method === 'tools/list') sendResult(response, id, { tools: [], ttlMs: 45_000 });
      return method === 'tools/list';
    };
    await clock.advance(1_000);
    await waitFor(() => expect(up.lists).toHaveLength(2));
    await clock.advance(45_000);
    await waitFor(() => expect(up.lists).toHaveLength(3));
  });
});
