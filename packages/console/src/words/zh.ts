import { accessWords } from './zh/access.ts';
import { agentsWords } from './zh/agents.ts';
import { approvalsWords } from './zh/approvals.ts';
import { callsWords } from './zh/calls.ts';
import { keyboardWords } from './zh/keyboard.ts';
import { ledgerWords } from './zh/ledger.ts';
import { failuresWords } from './zh/failures.ts';
import { metricsWords } from './zh/metrics.ts';
import { nodesWords } from './zh/nodes.ts';
import { runsWords } from './zh/runs.ts';
import { sharedWords } from './zh/shared.ts';
import { shellWords } from './zh/shell.ts';
import { testerWords } from './zh/tester.ts';
import { toolsWords } from './zh/tools.ts';
import { upstreamsWords } from './zh/upstreams.ts';
import type { en } from './en.ts';
import type { WordsOf } from './words-of.ts';

/** 控制台的全部中文文案。 */
export const zh: WordsOf<typeof en> = {
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
