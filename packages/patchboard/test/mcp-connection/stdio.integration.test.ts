import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Clock } from '../../src/core/ports.ts';
import { nodeClock } from '../../src/runtime/node-clock.ts';
import { ConnectionLost, ResponseTooLarge } from '../../src/sources/mcp/mcp-connection.ts';
import { aFolder } from '../support/a-folder.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { AConnection, stdioSettings, textOf } from './support/a-connection.ts';

const closing = closedAfterEach();
/** The grandchild that ignores SIGTERM gets 0.2 s instead of 2. */
const FAST: Clock = {
  ...nodeClock,
  elapsed: () => nodeClock.elapsed() * 10,
  after: (ms, action) => nodeClock.after(ms / 10, action),
};

async function started(...options: ConstructorParameters<typeof AConnection>): Promise<AConnection> {
  const up = new AConnection(...options).start();
  closing(() => up.connection.close());
  return await up.online();
}

const journalOf = (file: string): string[] => readFileSync(file, 'utf8').trim().split('\n');
const pidsIn = (file: string): number[] =>
  journalOf(file).flatMap((line) => (line.startsWith('start ') ? [Number(line.slice(6))] : []));

/** A zombie has ended, and waits for its parent to read how. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a server of the older protocol versions that is a process', () => {
  it('is called, and its responses arrive as it sent them', async () => {
    const up = await started(stdioSettings('legacy-server.mjs'));
    expect(up.connection.era).toBe('legacy');
    expect(up.connection.status()).toMatchObject({
      state: 'connected',
      protocol: '2025-06-18',
      server: { name: 'legacy', version: '1.0' },
      address: process.execPath,
    });
    expect(textOf(await up.call('echo', { text: 'hello' }))).toBe('hello');
    const unknown = await up.connection.request({
      method: 'nothing/here',
      params: {},
      capabilities: {},
      signal: new AbortController().signal,
    });
    expect(unknown).toEqual({ kind: 'error', code: -32_601, message: 'Method not found', data: null });
    await waitFor(() => expect(up.lists.at(-1)?.tools.map(({ name }) => name)).toContain('echo'));
  });

  it('has the configured variables and a few of ours, no other; a wrapper may start it', async () => {
    const settings = stdioSettings('legacy-server.mjs');
    const transport = { ...settings.transport, env: { TOKEN: 't' } } as typeof settings.transport;
    const environment = { PATH: process.env['PATH'], HOME: '/home/x', PATCHBOARD_SECRET: 's' };
    const wrapCommand = (command: string, args: readonly string[]) => ({
      command: 'env',
      args: ['WRAPPED=yes', command, ...args],
    });
    const up = await started({ ...settings, transport }, { environment, wrapCommand });
    const response = await up.call('environment');
    const seen = response.kind === 'result' ? response.result['structuredContent'] : null;
    expect(seen).toMatchObject({ TOKEN: 't', HOME: '/home/x', WRAPPED: 'yes' });
    expect(seen).not.toHaveProperty('PATCHBOARD_SECRET');
  });

  it('ends at the probe, and is started again without it; it is probed again after a day', async () => {
    const journal = join(await aFolder(), 'journal');
    let passed = 0;
    const clock = { ...nodeClock, elapsed: () => nodeClock.elapsed() + passed };
    const up = await started(stdioSettings('legacy-server.mjs', [journal, 'exits-on-probe']), { clock });
    expect(up.connection.era).toBe('legacy');
    expect(pidsIn(journal)).toHaveLength(2);
    await expect(up.call('crash')).rejects.toBeInstanceOf(ConnectionLost);
    expect(textOf(await up.call('echo', { text: 'back' }))).toBe('back');
    expect(pidsIn(journal)).toHaveLength(3);
    passed = 86_400_000;
    await expect(up.call('crash')).rejects.toBeInstanceOf(ConnectionLost);
    expect(textOf(await up.call('echo', { text: 'back' }))).toBe('back');
    expect(pidsIn(journal)).toHaveLength(5);
  });

  it('does not respond to the first message: the error says so, and not that its process was ended for it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const [command, args] = [process.execPath, ['--eval', 'process.stdin.resume()']];
    const transport = { kind: 'stdio', command, args, env: {}, cwd: null, sandbox: null } as const;
    const up = new AConnection({ ...stdioSettings(''), transport, protocol: 'legacy' }).start();
    closing(() => up.connection.close());
    await waitFor(() => {
      vi.advanceTimersByTime(5000);
      expect(up.states).toContain('disconnected');
    });
    const { lastError } = up.connection.status();
    expect(lastError?.message).toBe('no response to the first message within 60 s');
  });

  it('is killed in mid-request: the request is lost at once, and is not repeated', async () => {
    const journal = join(await aFolder(), 'journal');
    const up = await started(stdioSettings('legacy-server.mjs', [journal], { protocol: 'legacy' }));
    const pending = up.call('hang');
    await waitFor(() => expect(journalOf(journal)).toContain('hang'));
    const [pid = 0] = pidsIn(journal);
    process.kill(pid, 'SIGKILL');
    await expect(pending).rejects.toThrow(ConnectionLost);
    expect(up.connection.isOnline).toBe(false);
    expect(textOf(await up.call('echo', { text: 'again' }))).toBe('again');
    expect(journalOf(journal).filter((line) => line === 'call hang')).toHaveLength(1);
    expect(up.states).toEqual(['connected', 'disconnected', 'connected']);
  });

  it.each(['close', 'crash'] as const)('has no process left after %s, also no grandchild', async (way) => {
    const journal = join(await aFolder(), 'journal');
    const up = await started(stdioSettings('legacy-server.mjs', [journal], { protocol: 'legacy' }), {
      clock: FAST,
    });
    const grandchild = Number(textOf(await up.call('fork', { ignores: way === 'close' })));
    expect(isRunning(grandchild)).toBe(true);
    if (way === 'close') await up.connection.close();
    else await expect(up.call('crash')).rejects.toThrow('exit code 7');
    await waitFor(() => expect(isRunning(grandchild)).toBe(false));
    expect(isRunning(pidsIn(journal)[0] ?? 0)).toBe(false);
  });

  it('closes its output and lives on: the request is lost, and the process is replaced', async () => {
    const journal = join(await aFolder(), 'journal');
    const up = await started(stdioSettings('legacy-server.mjs', [journal], { protocol: 'legacy' }));
    await expect(up.call('mute')).rejects.toThrow('the process ended (it closed its output)');
    expect(textOf(await up.call('echo', { text: 'again' }))).toBe('again');
    expect(journalOf(journal).filter((line) => line === 'call mute')).toHaveLength(1);
    await waitFor(() => expect(isRunning(pidsIn(journal)[0] ?? 0)).toBe(false));
  });

  it('is restarted twice at once: it has one process, and none after close', async () => {
    const journal = join(await aFolder(), 'journal');
    const up = await started(stdioSettings('legacy-server.mjs', [journal], { protocol: 'legacy' }));
    await Promise.all([up.connection.restart(), up.connection.restart()]);
    expect(textOf(await up.call('echo', { text: 'back' }))).toBe('back');
    expect(pidsIn(journal)).toHaveLength(2);
    await up.connection.close();
    expect(pidsIn(journal).filter(isRunning)).toEqual([]);
  });

  it('is closed during a restart: it stays closed', async () => {
    const up = await started(stdioSettings('legacy-server.mjs', [], { protocol: 'legacy' }));
    await Promise.all([up.connection.restart(), up.connection.close()]);
    await expect(up.call('echo', { text: 'back' })).rejects.toThrow('the connection is');
    expect(up.connection.isOnline).toBe(false);
  });

  it('writes to stderr: each line is logged without secret values', async () => {
    const up = await started(stdioSettings('legacy-server.mjs', [], { protocol: 'legacy' }));
    await up.call('warn', { lines: ['token s3cret-value', 'second', 'x '.repeat(20_000)] });
    await waitFor(() => expect(up.lines.filter(({ event }) => event === 'upstream.stderr')).toHaveLength(3));
    const lines = up.lines.flatMap(({ event, fields }) => (event === 'upstream.stderr' ? [fields] : []));
    expect(lines.slice(0, 2)).toEqual([
      { upstream: 'up', line: 'token [redacted]' },
      { upstream: 'up', line: 'second' },
    ]);
    expect(String(lines[2]?.['line']).length).toBeLessThan(2_001);
  });

  it('sends a line over 4 MiB: that request fails, and the others go on', async () => {
    const up = await started(stdioSettings('legacy-server.mjs', [], { protocol: 'legacy' }));
    const large = up.call('large', { bytes: 5 * 1024 * 1024 });
    const other = up.call('echo', { text: 'small' });
    await expect(large).rejects.toBeInstanceOf(ResponseTooLarge);
    expect(textOf(await other)).toBe('small');
    expect(up.states).toEqual(['connected']);
  });

  it('sends such a line for a request that was cancelled: the others go on', async () => {
    const up = await started(stdioSettings('legacy-server.mjs', [], { protocol: 'legacy' }));
    const controller = new AbortController();
    const large = up.call('large', { bytes: 5 * 1024 * 1024 }, { signal: controller.signal });
    const other = up.call('echo', { text: 'small' });
    controller.abort(new Error('deadline'));
    await expect(large).rejects.toThrow('deadline');
    expect(textOf(await other)).toBe('small');
    expect(up.states).toEqual(['connected']);
  });

  it('is told when a request is cancelled, and its progress reaches the request', async () => {
    const journal = join(await aFolder(), 'journal');
    const up = await started(
      stdioSettings('legacy-server.mjs', [journal, 'prints-noise'], { protocol: 'legacy' }),
    );
    const seen: unknown[] = [];
    const params = { name: 'progress', arguments: {}, _meta: { progressToken: 'tc_1' } };
    await up.call('progress', {}, { params, onNotification: (...event) => seen.push(event) });
    expect(seen).toEqual([['notifications/progress', { progressToken: 'tc_1', progress: 1, total: 2 }]]);

    const controller = new AbortController();
    const pending = up.call('hang', {}, { signal: controller.signal });
    await waitFor(() => expect(journalOf(journal)).toContain('hang'));
    controller.abort(new Error('deadline'));
    await expect(pending).rejects.toThrow('deadline');
    await waitFor(() => expect(journalOf(journal).at(-1)).toMatch(/^cancelled pb-\d+$/));
  });
});

describe('a server of 2026-07-28 that is a process', () => {
  it('is found by the probe, and each request carries version, client and capabilities', async () => {
    const up = await started(stdioSettings('modern-server.mjs'));
    expect(up.connection.era).toBe('modern');
    expect(up.connection.status().protocol).toBe('2026-07-28');
    const response = await up.call('meta', {}, { capabilities: { elicitation: { form: {} } } });
    expect(JSON.stringify(response)).toContain(
      '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}',
    );
  });
});
