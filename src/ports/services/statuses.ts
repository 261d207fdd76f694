/** The statuses of responses that have no body, whatever is asked for (the Fetch standard's null body statuses). */
export const WITHOUT_BODY: readonly number[] = [204, 205, 304]
