/** The agent in this process that made a call, as tools and hooks see it. */
export interface AgentHandle {
  /** Also the id of its run. */
  readonly id: string;
  /** Its name in the policy. */
  readonly name: string;
  /** Nesting depth; 0 for an agent that no other agent started. */
  readonly depth: number;
  /**
   * Starts a sub-agent with a task and resolves when it stops. It has at most the permissions of this agent, the same hooks
   * and the same budget; its calls are recorded as children of `task.callId`.
   * Throws `ToolFailure` when agents are nested too deeply.
   */
  spawn(task: SubTask): Promise<SubTaskReply>;
}

export interface SubTask {
  readonly prompt: string;
  /** The call of this agent that the task is part of: `context.callId`. */
  readonly callId: string;
  /** Aborts the task: pass `context.signal`. */
  readonly signal?: AbortSignal;
  /** Default: that of the agent that starts it. */
  readonly system?: string;
  /** Patterns of the tools it is offered, among those of the agent that starts it. Default: all of them. */
  readonly tools?: readonly string[];
  /** Default: that of the agent that starts it. */
  readonly maxIterations?: number;
}

export interface SubTaskReply {
  readonly agentId: string;
  /** The text of its last reply. */
  readonly text: string;
  readonly reason: StopReason;
  /** Number of tool calls that it requested. */
  readonly calls: number;
}

/** Why an agent stopped. */
export type StopReason =
  /** The model requested no more calls. */
  | 'done'
  /** A stop condition was met. */
  | 'stopped'
  | 'max_iterations'
  | 'budget'
  /** The model kept repeating the same request. */
  | 'repeating'
  | 'interrupted'
  /** Its requests wait for the embedding program to run them (`mode: 'manual'`). */
  | 'manual';
