import { describe, expect, it } from 'vitest';
import { firstSteps } from './first-steps.ts';

const LOCAL = { loginToken: 'ot_1', isLocal: true, hasConfiguredToken: false };

describe('the hints of a server on a terminal', () => {
  it('omit --url for the default address', () => {
    const shown = firstSteps({ ...LOCAL, url: 'http://127.0.0.1:8080' });
    expect(shown).toContain("    npx patchboard call calculation.eval expression='(3+4)*6'\n");
    expect(shown).toContain('    curl http://127.0.0.1:8080/v1/tools\n');
    expect(shown).toContain('    http://127.0.0.1:8080/#login=ot_1\n');
  });

  it('include --url for any other address', () => {
    const shown = firstSteps({ ...LOCAL, url: 'http://127.0.0.1:9000' });
    expect(shown).toContain(
      "    npx patchboard call calculation.eval expression='(3+4)*6' --url http://127.0.0.1:9000\n",
    );
    expect(shown).not.toContain('8080');
  });

  it('create a key with the operator token where every request needs a credential', () => {
    const url = 'http://127.0.0.1:9000';
    const inFolder = firstSteps({ ...LOCAL, url, isLocal: false });
    expect(inFolder).toContain(`$(npx patchboard keys create --kind agent --name me --url ${url})\n`);
    expect(inFolder).toContain(`    curl -H "Authorization: Bearer $PATCHBOARD_KEY" ${url}/v1/tools\n`);
    expect(inFolder).not.toContain('PATCHBOARD_OPERATOR_TOKEN');
    const configured = firstSteps({ ...LOCAL, url, isLocal: false, hasConfiguredToken: true });
    expect(configured).toContain('    export PATCHBOARD_OPERATOR_TOKEN=…   # as set for this server\n');
  });
});
