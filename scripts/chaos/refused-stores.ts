import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { get, post } from './http.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { ServerProcess } from './server-process.ts';
import { DAMAGES, LOSSES } from './store-damages.ts';

const FILE = 'patchboard.db';

/** G17: one clear line, a non-zero exit code, and no byte changed. */
export async function runRefusedStores(folder: string): Promise<ScenarioReport> {
  const findings = new Findings();
  const good = join(folder, 'good');
  await makeGoodStore(good);
  const lines: Record<string, string> = {};
  const killed = join(folder, 'killed');
  await makeKilledStore(killed);
  const refuse = async (from: string, name: string, damage: (file: string) => void): Promise<void> => {
    const copy = join(folder, name.replaceAll(' ', '-'));
    cpSync(from, copy, { recursive: true });
    damage(join(copy, FILE));
    lines[name] = await expectRefusal(name, copy, findings);
  };
  await Promise.all([
    ...Object.entries(DAMAGES).map(([name, damage]) => refuse(good, name, damage)),
    ...Object.entries(LOSSES).map(([name, lose]) => refuse(killed, name, lose)),
  ]);
  for (const name of Object.keys(LOSSES)) {
    const line = lines[name] ?? '';
    findings.check(
      line.includes('patchboard data accept-loss --data …'),
      `${name}: the line does not say how to go on: ${line}`,
    );
  }
  lines['in use'] = await expectRefusalWhileInUse(good, findings);
  lines['locked'] = await expectRefusalWhileLocked(good, findings);
  return { facts: lines, violations: findings.violations };
}

async function makeGoodStore(dataFolder: string): Promise<void> {
  mkdirSync(dataFolder, { mode: 0o700 });
  const server = ServerProcess.shipped({ dataFolder });
  try {
    await makeCalls(await server.mustBeReady());
    server.terminate();
    await server.ended;
  } finally {
    await server.destroy();
  }
}

/** Killed once the head file names the last row; all rows are still in the log. */
async function makeKilledStore(dataFolder: string): Promise<void> {
  mkdirSync(dataFolder, { mode: 0o700 });
  const server = ServerProcess.shipped({ dataFolder });
  try {
    const url = await server.mustBeReady();
    await makeCalls(url);
    const { body } = await get(`${url}/v1/ledger/verify`);
    const { seq } = body['head'] as { seq: number };
    while (headSeq(dataFolder) < seq) await get(`${url}/readyz`);
    server.kill();
    await server.ended;
  } finally {
    await server.destroy();
  }
}

async function makeCalls(url: string): Promise<void> {
  const body = { run_id: 'run_1', args: { expression: '1+1' } };
  for (let count = 0; count < 50; count += 1) await post(`${url}/v1/tools/calculation.eval/invoke`, body);
}

function headSeq(dataFolder: string): number {
  const head = JSON.parse(readFileSync(join(dataFolder, `${FILE}-head`), 'utf8')) as { seq: number };
  return head.seq;
}

/** `isWritten`: files that another server writes meanwhile. */
async function expectRefusal(
  name: string,
  dataFolder: string,
  findings: Findings,
  isWritten: (file: string) => boolean = () => false,
): Promise<string> {
  const before = snapshot(dataFolder);
  const server = ServerProcess.shipped({ dataFolder });
  try {
    const url = await server.ready();
    findings.check(url === null, `${name}: the server started`);
    if (url !== null) return 'started';
    const { code } = await server.ended;
    const said = server.stderr.trim();
    findings.check(code !== null && code > 0, `${name}: exit code ${code}`);
    findings.check(said !== '' && !said.includes('\n'), `${name}: not one line on stderr, but:\n${said}`);
    findings.check(said.includes(FILE), `${name}: the line does not name the file: ${said}`);
    const changed = changedFiles(dataFolder, before).filter((file) => !isWritten(file));
    findings.check(changed.length === 0, `${name}: ${changed.join()} changed`);
    return said.replaceAll(dataFolder, '…');
  } finally {
    await server.destroy();
  }
}

/** The index of calls, which a server writes behind its commits. */
function isIndex(file: string): boolean {
  return file.startsWith('patchboard-search.db');
}

async function expectRefusalWhileInUse(dataFolder: string, findings: Findings): Promise<string> {
  const first = ServerProcess.shipped({ dataFolder });
  try {
    const url = await first.mustBeReady();
    const line = await expectRefusal('in use', dataFolder, findings, isIndex);
    const response = await post(`${url}/v1/tools/calculation.eval/invoke`, {
      run_id: 'run_2',
      args: { expression: '2' },
    });
    findings.check(response.status === 202, `in use: the first server now returns ${response.status}`);
    return line;
  } finally {
    await first.destroy();
  }
}

/** Another program holds the lock, such as a wrong backup tool. */
async function expectRefusalWhileLocked(dataFolder: string, findings: Findings): Promise<string> {
  // In a separate process: in this one, reading the file for its hash would release the POSIX lock.
  const source = `
    import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
    const database = new DatabaseSync(process.argv[1]);
    database.exec('pragma locking_mode = exclusive; begin immediate');
    console.log('locked');
    setInterval(() => database.isOpen, 1000);`;
  const args = ['--input-type=module', '--eval', source, join(dataFolder, FILE)];
  const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(holder, 'exit');
  try {
    await once(holder.stdout, 'data');
    return await expectRefusal('locked', dataFolder, findings);
  } finally {
    holder.kill('SIGKILL');
    await ended;
  }
}

/** Contents of everything in the folder, by name. */
function snapshot(folder: string): Map<string, string> {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ name }) => {
      const bytes = readFileSync(join(folder, name));
      return [name, createHash('sha256').update(bytes).digest('hex')];
    }),
  );
}

/** Reading a database in WAL mode may leave an index and an empty log beside it; nothing that was there may change. */
function changedFiles(folder: string, before: ReadonlyMap<string, string>): string[] {
  const after = snapshot(folder);
  const changed = [...before].filter(([name, hash]) => after.get(name) !== hash && !name.endsWith('-shm'));
  const added = [...after.keys()].filter((name) => {
    if (before.has(name) || name === `${FILE}-shm`) return false;
    return name !== `${FILE}-wal` || statSync(join(folder, name)).size > 0;
  });
  return [...changed.map(([name]) => name), ...added];
}
