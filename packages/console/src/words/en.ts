import { accessWords } from './en/access.ts';
import { agentsWords } from './en/agents.ts';
import { approvalsWords } from './en/approvals.ts';
import { callsWords } from './en/calls.ts';
import { keyboardWords } from './en/keyboard.ts';
import { ledgerWords } from './en/ledger.ts';
import { failuresWords } from './en/failures.ts';
import { metricsWords } from './en/metrics.ts';
import { nodesWords } from './en/nodes.ts';
import { runsWords } from './en/runs.ts';
import { sharedWords } from './en/shared.ts';
import { shellWords } from './en/shell.ts';
import { testerWords } from './en/tester.ts';
import { toolsWords } from './en/tools.ts';
import { upstreamsWords } from './en/upstreams.ts';

/** The English texts of the console. */
export const en = {
  ...shellWords,
  ...sharedWords,
  ...callsWords,
  ...runsWords,
  ...approvalsWords,
  ...testerWords,
  ...toolsWords,
  ...upstreamsWords,
  ...nodesWords,
  ...agentsWords,
  ...accessWords,
  ...keyboardWords,
  ...ledgerWords,
  ...metricsWords,
  ...failuresWords,
};
