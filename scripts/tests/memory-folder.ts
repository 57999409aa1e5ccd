import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const MEMORY = '/dev/shm';
const NAME = 'patchboard-tests-';
/** `f_type` of a file system in memory. */
const TMPFS = 0x0102_1994;
const GIB = 2 ** 30;
/** The tests of all workers together hold less than a third of this. */
const FREE_BYTES = 3 * GIB;
/** What the processes of the tests need beside it. */
const MEMORY_BYTES = 8 * GIB;

let folder: string | null = null;

/**
 * Setup of the tiers that write databases: temporary files are in memory, because waiting for the disk takes a quarter of the time
 * of these tests. A machine without enough memory, or without such a file system, uses its usual folder. A test that needs
 * a disk names a folder itself.
 */
export function setup(): void {
  if (folder !== null) return;
  removeLeftovers();
  if (!hasRoom()) return;
  const made = mkdtempSync(join(MEMORY, `${NAME}${process.pid}-`));
  // As /tmp: servers of other users have folders in it.
  chmodSync(made, 0o1777);
  if (!mayExecute(made)) return rmSync(made, { recursive: true });
  folder = made;
  // The workers inherit it.
  process.env['TMPDIR'] = made;
}

export function teardown(): void {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
  folder = null;
}

function hasRoom(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= FREE_BYTES && process.availableMemory() >= MEMORY_BYTES;
  } catch {
    return false; // There is no such folder on this system.
  }
}

/** Tests write programs and start them. */
function mayExecute(path: string): boolean {
  const program = join(path, 'program');
  writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

/** Of a run that was killed: they would fill the memory. */
function removeLeftovers(): void {
  let names: readonly string[] = [];
  try {
    names = readdirSync(MEMORY).filter((name) => name.startsWith(NAME));
  } catch {
    return; // There is no such folder on this system.
  }
  for (const name of names) {
    const pid = Number(name.slice(NAME.length).split('-')[0]);
    if (!isRunning(pid)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
