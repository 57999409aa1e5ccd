/** What tools and hooks see of the agent in this process that asks. */
export interface AgentHandle {
  /** Also the id of its run. */
  readonly id: string;
  /** What policy calls it. */
  readonly name: string;
  /** How many agents stand above it; 0 for one that no other started. */
  readonly depth: number;
  /**
   * Gives a task to a sub-agent and waits for its last word. It may do what this agent may do, or less; it has the same
   * hooks, spends the same budget, and its calls are recorded as children of `task.callId`.
   * Throws `ToolFailure` when agents are nested too deeply.
   */
  spawn(task: SubTask): Promise<SubTaskReply>;
}

export interface SubTask {
  readonly prompt: string;
  /** The call of this agent that the task is part of: `context.callId`. */
  readonly callId: string;
  /** Ends the task: `context.signal`. */
  readonly signal?: AbortSignal;
  /** Default: that of the agent that gives the task. */
  readonly system?: string;
  /** Patterns of the tools it is offered, within those of the agent that gives the task. Default: all of these. */
  readonly tools?: readonly string[];
  /** Default: that of the agent that gives the task. */
  readonly maxIterations?: number;
}

export interface SubTaskReply {
  readonly agentId: string;
  /** The last thing it said. */
  readonly text: string;
  readonly reason: StopReason;
  /** How many tools it asked for. */
  readonly calls: number;
}

/** Why an agent stopped. */
export type StopReason =
  /** The model had nothing more to ask for. */
  | 'done'
  /** A stop condition held. */
  | 'stopped'
  | 'max_iterations'
  | 'budget'
  /** The model would not stop asking for the same. */
  | 'repeating'
  | 'interrupted'
  /** Its requests wait for somebody to run them (`mode: 'manual'`). */
  | 'manual';
