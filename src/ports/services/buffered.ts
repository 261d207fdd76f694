/** Requests whose response leaves when it is whole: one without an end never would. */
export const buffered: WeakSet<Request> = new WeakSet()
