import { Tally, type AttackOptions } from './battery.ts';
import { BATTERIES } from './batteries.ts';
import { startTarget } from './target.ts';

export interface BatteryReport {
  readonly name: string;
  readonly tally: Tally;
}

/** Runs the named batteries on one real server, then checks that it is alive, ready and has a ledger that verifies. */
export async function attack(
  folder: string,
  names: readonly string[],
  options: AttackOptions,
  report: (done: BatteryReport) => void,
): Promise<readonly string[]> {
  const target = await startTarget(folder);
  const violations: string[] = [];
  try {
    for (const name of names) {
      const tally = new Tally();
      await BATTERIES.get(name)?.(target, tally, options);
      if (target.process.hasEnded)
        tally.violations.push(`the server ended: ${target.process.stderr.slice(-2000)}`);
      report({ name, tally });
      violations.push(...tally.violations);
      if (target.process.hasEnded) return violations;
    }
    const ready = await target.send('/readyz');
    if (ready.status !== 200) violations.push(`/readyz returned ${ready.status} afterwards`);
    const verified = await target.send('/v1/ledger/verify', { headers: target.operator });
    if (!verified.text.includes('"ok":true')) violations.push(`the ledger does not verify: ${verified.text}`);
    const { stderr } = target.process;
    if (/uncaught|unhandled|\bat .*\.ts:\d+/i.test(stderr))
      violations.push(`the server's log has a stack: ${stderr.slice(-2000)}`);
    return violations;
  } finally {
    await target.close();
  }
}
