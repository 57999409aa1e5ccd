import { describe, expect, it } from 'vitest';
import { firstSteps } from './first-steps.ts';

describe('the hints of a server on a terminal', () => {
  it('omit --url for the default address', () => {
    const shown = firstSteps('http://127.0.0.1:8080', 'ot_1');
    expect(shown).toContain("    npx patchboard call calculation.eval expression='(3+4)*6'\n");
    expect(shown).toContain('    curl http://127.0.0.1:8080/v1/tools\n');
    expect(shown).toContain('    http://127.0.0.1:8080/#login=ot_1\n');
  });

  it('include --url for any other address', () => {
    const shown = firstSteps('http://127.0.0.1:9000', 'ot_1');
    expect(shown).toContain(
      "    npx patchboard call calculation.eval expression='(3+4)*6' --url http://127.0.0.1:9000\n",
    );
    expect(shown).not.toContain('8080');
  });
});
