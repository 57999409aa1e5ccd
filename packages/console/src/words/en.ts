import { agentsWords } from './en/agents.ts';
import { approvalsWords } from './en/approvals.ts';
import { callsWords } from './en/calls.ts';
import { ledgerWords } from './en/ledger.ts';
import { failuresWords } from './en/failures.ts';
import { nodesWords } from './en/nodes.ts';
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
  ...approvalsWords,
  ...testerWords,
  ...toolsWords,
  ...upstreamsWords,
  ...nodesWords,
  ...agentsWords,
  ...ledgerWords,
  ...failuresWords,
};
