import { execFileSync } from 'node:child_process';
import { cpus, tmpdir, totalmem } from 'node:os';
import process from 'node:process';

/** The properties of the machine that matter for comparisons. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  /** File system of the folder with the stores. */
  readonly filesystem: string;
}

export function describeMachine(): Machine {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    filesystem: filesystemOf(tmpdir()),
  };
}

function filesystemOf(folder: string): string {
  try {
    const lines = execFileSync('df', ['-PT', folder], { encoding: 'utf8' }).trim().split('\n');
    return lines.at(-1)?.split(/\s+/)[1] ?? 'unknown';
  } catch {
    return 'unknown'; // `df -T` is not available everywhere
  }
}
