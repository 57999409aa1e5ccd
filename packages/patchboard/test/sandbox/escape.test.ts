import { execFileSync, spawn } from 'node:child_process';
import { existsSync, linkSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/core/sandbox.ts';
import { aSandboxSetup, type OpenBench } from './support/a-sandbox-setup.ts';
import { forkBomb } from './support/fork-bomb.ts';
import { aMark, processesWith } from './support/processes.ts';
import { swapRace, type RaceProgress } from './support/swap-race.ts';

const SECRET = 'planted-secret-5f2c';
const PROCESSES = 64;

/** However slow the machine is: many swaps, and reads that met the folder as well as the link. */
const isEnough = ({ swaps, reads, found, refused }: RaceProgress): boolean =>
  reads >= 250 && swaps > 200 && found > 0 && refused > 0;

/** Each test is one way out that must be shut. It needs what encloses commands on this system, and fails without. */
describe('a workspace', () => {
  let bench: OpenBench;
  let sandbox: Sandbox;
  let outside: string;

  beforeAll(async () => {
    bench = await aSandboxSetup({ limits: { processes: PROCESSES, timeoutMs: 20_000 } });
    sandbox = bench.sandbox();
    await sandbox.writeFile('own.txt', 'own');
    outside = join(bench.folder, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret.txt'), SECRET);
    await mkdir(`${sandbox.root}-evil`);
    await writeFile(`${sandbox.root}-evil/secret.txt`, SECRET);
  });

  afterAll(async () => {
    await bench.close();
  });

  async function refusal(work: Promise<unknown>): Promise<string> {
    return await work.then(
      (value) => `not refused: ${JSON.stringify(value)}`,
      (error: unknown) => String(error),
    );
  }

  /** What a command can get of it, whatever it says. */
  async function shell(command: string): Promise<string> {
    const { stdout, stderr } = await sandbox.exec(command);
    return stdout + stderr;
  }

  it('uses the sandbox provider of this system', () => {
    expect(bench.report.problem).toBeNull();
    expect(bench.report.canary.every(({ held }) => held)).toBe(true);
    expect(sandbox.provider).not.toBe('none');
  });

  it('prefix: a folder whose name begins like the workspace is outside', async () => {
    const evil = `${sandbox.root}-evil/secret.txt`;
    expect(await refusal(sandbox.readFile(evil))).toContain('outside the workspace');
    expect(await refusal(sandbox.writeFile(`${sandbox.root}-evil/mine`, 'x'))).toContain('outside');
    expect(existsSync(`${sandbox.root}-evil/mine`)).toBe(false);
    expect(await shell(`cat '${evil}'; echo broken > '${sandbox.root}-evil/mine'`)).not.toContain(SECRET);
    expect(existsSync(`${sandbox.root}-evil/mine`)).toBe(false);
  });

  it.each([
    '../run_1-evil/secret.txt',
    '../../../outside/secret.txt',
    'a/../../run_1-evil/secret.txt',
    './/..//run_1-evil//secret.txt',
    '..',
    '../',
    '/etc/shadow',
    '/etc/hostname',
    '/',
    'own.txt/../../run_1-evil/secret.txt',
  ])('..: %s leads nowhere', async (path) => {
    expect(await refusal(sandbox.readFile(path))).toMatch(/outside the workspace/);
    expect(await refusal(sandbox.list(path))).toMatch(/outside the workspace/);
    expect(await refusal(sandbox.writeFile(path, 'x'))).toMatch(/outside the workspace/);
    const query = { pattern: SECRET, literal: true, ignoreCase: false, wholeWord: false, multiline: false };
    expect(await refusal(sandbox.files.grep({ ...query, path, glob: null, context: 0, limit: 5 }))).toMatch(
      /outside the workspace/,
    );
    expect(await refusal(sandbox.files.glob({ pattern: '*', exclude: [], path, limit: 5 }))).toMatch(
      /outside the workspace/,
    );
    expect(await refusal(sandbox.exec('cat secret.txt', { cwd: path }))).toMatch(/outside the workspace/);
  });

  it.each([
    '%2e%2e/run_1-evil/secret.txt',
    '..%2frun_1-evil',
    '．．/run_1-evil',
    String.raw`..\run_1-evil`,
    '~/x',
    '$HOME/x',
  ])('encodings: %s is only a name', async (path) => {
    expect(await refusal(sandbox.readFile(path))).toMatch(/no such file/);
    await sandbox.writeFile(`names/${path}`, 'plain');
    expect(await sandbox.readFile(`names/${path}`)).toBe('plain');
  });

  it('NUL ends no path early', async () => {
    expect(await refusal(sandbox.readFile('own.txt\0../../secret'))).toContain('NUL');
    expect(await refusal(sandbox.exec('echo a\0b'))).toContain('NUL');
  });

  it('symlink: one that leads outside is not followed, one that stays inside is', async () => {
    symlinkSync(join(outside, 'secret.txt'), join(sandbox.root, 'to-file'));
    symlinkSync(outside, join(sandbox.root, 'to-folder'));
    symlinkSync('../../../outside', join(sandbox.root, 'relative'));
    symlinkSync('loop', join(sandbox.root, 'loop'));
    symlinkSync('own.txt', join(sandbox.root, 'stays'));
    for (const path of ['to-file', 'to-folder/secret.txt', 'relative/secret.txt']) {
      expect(await refusal(sandbox.readFile(path))).toContain(`${path} leads outside the workspace`);
      expect(await shell(`cat ${path}`)).not.toContain(SECRET);
    }
    expect(await refusal(sandbox.list('to-folder'))).toContain('outside');
    expect(await refusal(sandbox.writeFile('to-folder/new.txt', 'x'))).toContain('outside');
    expect(await refusal(sandbox.writeFile('to-file', 'x'))).toContain('outside');
    expect(await refusal(sandbox.readFile('loop'))).toContain('too many links');
    expect(await sandbox.readFile('stays')).toBe('own');
    const found = await sandbox.files.grep({
      pattern: SECRET,
      literal: true,
      ignoreCase: false,
      wholeWord: false,
      multiline: false,
      path: '.',
      glob: null,
      context: 0,
      limit: 10,
    });
    expect(found.matches).toEqual([]);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  });

  it('swap race: a folder that is replaced by a link during access gives no access to the outside', async () => {
    const race = await swapRace(bench, isEnough);
    expect(race).toMatchObject({ leaks: 0, escapes: 0 });
  });

  it('swap race: the path walk alone prevents it, without a sandbox', async () => {
    const open = await aSandboxSetup({ searchPath: '/nowhere', unsafeNoSandbox: true });
    try {
      expect(open.sandbox().provider).toBe('none');
      const race = await swapRace(open, isEnough);
      expect(race).toMatchObject({ leaks: 0, escapes: 0 });
    } finally {
      await open.close();
    }
  });

  it('FIFO: opening one does not block', async () => {
    await sandbox.exec('mkfifo pipe; mkdir -p piped; mkfifo piped/pipe; echo needle > piped/file');
    expect(await refusal(sandbox.readFile('pipe'))).toContain('a regular file');
    expect(await refusal(sandbox.writeFile('pipe', 'x'))).toContain('a regular file');
    const query = { pattern: 'needle', literal: true, ignoreCase: false, wholeWord: false, multiline: false };
    const grep = { ...query, glob: null, context: 0, limit: 5 };
    expect(await refusal(sandbox.files.grep({ ...grep, path: 'pipe' }))).toContain('a regular file');
    expect((await sandbox.files.grep({ ...grep, path: 'piped' })).matches).toHaveLength(1);
  });

  it('device: none can be created, and an existing one cannot be opened', async () => {
    expect(await shell('mknod disk b 8 0 && echo made')).not.toMatch(/^made/m);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      execFileSync('mknod', ['-m', '666', join(sandbox.root, 'zero'), 'c', '1', '5']);
      expect(await refusal(sandbox.readFile('zero'))).toContain('a regular file');
      expect(await shell('head -c 4 zero | wc -c')).toContain('Permission denied');
    }
    expect(await refusal(sandbox.readFile('/dev/zero'))).toContain('outside');
    expect(await shell('ls /dev/vda /dev/sda /dev/mem /dev/kmsg')).not.toMatch(/^\/dev/m);
  });

  it('/proc: shows only processes inside, and changes no kernel settings', async () => {
    expect(await refusal(sandbox.readFile('/proc/self/environ'))).toContain('outside');
    symlinkSync('/proc/self/root/etc', join(sandbox.root, 'by-proc'));
    expect(await refusal(sandbox.list('by-proc'))).toContain('outside');
    expect(await shell(`cat /proc/${process.pid}/environ /proc/${process.pid}/cmdline`)).toContain(
      'No such file',
    );
    const seen = await shell('ls /proc | grep -c "^[0-9]"');
    expect(Number(seen)).toBeLessThan(10);
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    await shell(
      'echo "|/bin/true" > /proc/sys/kernel/core_pattern; echo 1 > /proc/sys/vm/drop_caches; echo b > /proc/sysrq-trigger',
    );
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before);
    expect(await shell('ls /proc/1/root/home /proc/1/cwd/')).not.toContain('outside');
  });

  it('hard link: none can be created to a file outside, and a write leaves the other name unchanged', async () => {
    expect(
      await shell(`ln '${join(outside, 'secret.txt')}' stolen; ln /etc/passwd accounts; cat stolen`),
    ).not.toContain(SECRET);
    expect(existsSync(join(sandbox.root, 'stolen'))).toBe(false);
    expect(existsSync(join(sandbox.root, 'accounts'))).toBe(false);
    await writeFile(join(outside, 'shared.txt'), 'before');
    linkSync(join(outside, 'shared.txt'), join(sandbox.root, 'shared.txt'));
    await sandbox.writeFile('shared.txt', 'after');
    expect(await sandbox.readFile('shared.txt')).toBe('after');
    expect(await readFile(join(outside, 'shared.txt'), 'utf8')).toBe('before');
  });

  it('system: nothing outside the workspace can be written, and little can be read', async () => {
    const said = await shell(
      'for f in /usr/bin/evil /etc/evil /bin/evil /lib/evil; do (echo x > $f) 2>/dev/null && echo "wrote $f"; done; cat /etc/shadow /root/.bashrc; ls /root /home /var/lib /run /sys /boot /mnt /srv; cat /etc/passwd',
    );
    expect(said).not.toContain('wrote');
    expect(said).not.toContain('root:$');
    expect(said.match(/^\w+:x:/gm)).toHaveLength(2);
    expect(await shell('id -u; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status')).toMatch(
      /^[1-9]\d*\nCapEff:\s+0+\nNoNewPrivs:\s+1/,
    );
  });

  it('network: there is none, not even this machine', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const abstract = createServer(() => (connections += 1));
    await new Promise<void>((resolve) => abstract.listen(`\0${aMark()}`, resolve));
    const name = (abstract.address() as string).slice(1);
    const said = await shell(
      `(exec 5<>/dev/tcp/127.0.0.1/${port}) && echo connected; node -e "require('net').connect('\\0${name}').on('connect',()=>console.log('connected')).on('error',()=>{})"; cat /proc/net/dev | grep -c eth`,
    );
    expect(said).not.toMatch(/^connected/m);
    expect(connections).toBe(0);
    expect(await refusal(sandbox.exec('true', { network: true }))).toContain(
      'commands have no network access here',
    );
    server.close();
    abstract.close();
  });

  it('network: works if the operator allows it and the command requests it', async () => {
    const open = await aSandboxSetup({ network: true });
    const server = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const command = `cat < /dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}`;
    expect((await open.sandbox().exec(command)).stdout).toBe('');
    expect((await open.sandbox().exec(command, { network: true })).stdout).toBe('hello');
    server.close();
    await open.close();
  });

  it('signals: no process outside can be signalled', async () => {
    const bystander = spawn('sleep', ['300']);
    await shell(`kill -9 ${bystander.pid} ${process.pid}; kill -9 -1`);
    bystander.kill('SIGTERM');
    const signal = await new Promise((resolve) => bystander.once('exit', (_code, by) => resolve(by)));
    expect(signal).toBe('SIGTERM');
  });

  it('fork bomb: stays small and is gone with its command', async () => {
    const mark = aMark();
    const most = await forkBomb(sandbox, mark);
    expect(most).toBeGreaterThan(1);
    // One more for what encloses it.
    expect(most).toBeLessThanOrEqual(PROCESSES + 4);
    expect(processesWith(mark)).toEqual([]);
    expect(await shell('echo still works')).toContain('still works');
  });

  it('setsid survivor: nothing outlives its command', async () => {
    const mark = aMark();
    const script = `setsid sleep ${mark} & (setsid nohup sleep ${mark} >/dev/null 2>&1 &) ; python3 -c "import os,time
if os.fork()==0:
  os.setsid()
  if os.fork()==0: os.execvp('sleep',['sleep','${mark}'])
" 2>/dev/null; sleep 0.2; echo started`;
    expect(await shell(script)).toContain('started');
    // What let go of the output dies with the namespace, which the kernel ends a moment after its first process.
    await expect.poll(() => processesWith(mark)).toEqual([]);
  });

  it('output: hundreds of megabytes use no more memory than the kept part', async () => {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
    const result = await sandbox.exec('yes 0123456789abcdef | head -c 400000000; echo end');
    clearInterval(watch);
    expect(result).toMatchObject({ exitCode: 0, stdoutTruncated: true });
    expect(result.stdout.length).toBeLessThan(200_000);
    expect(result.stdout.startsWith('0123456789abcdef\n')).toBe(true);
    expect(result.stdout.endsWith('end\n')).toBe(true);
    expect(most - before).toBeLessThan(150_000_000);
  });

  it('environment: contains only the variables that the operator names', async () => {
    process.env['PLANTED_IN_ENVIRONMENT'] = SECRET;
    const named = await aSandboxSetup({ environment: { CI: 'yes' } });
    const both = [
      await shell('env; cat /proc/*/environ | tr "\\0" "\\n"'),
      (await named.sandbox().exec('env')).stdout,
    ];
    delete process.env['PLANTED_IN_ENVIRONMENT'];
    expect(both.join('\n')).not.toContain(SECRET);
    expect(both[0]?.match(/^HOME=.*/m)?.[0]).toBe('HOME=/home/sandbox');
    expect(both[1]).toContain('CI=yes');
    await named.close();
  });

  it('limits: a file that is too large and a loop that runs too long are ended', async () => {
    const small = await aSandboxSetup({ limits: { fileBytes: 1_000_000, cpuSeconds: 1 } });
    const inside = small.sandbox();
    await inside.exec('head -c 5000000 /dev/zero > big');
    expect((await inside.exec('wc -c < big')).stdout.trim()).toBe('999424');
    expect((await inside.exec('while :; do :; done')).exitCode).not.toBe(0);
    await small.close();
  });
});
