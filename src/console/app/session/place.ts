/** Where the console and the service are, as this page was loaded: a proxy may serve both under a path. */

/** The path of the console without a slash at its end. */
export const consolePath = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** The service's address without a slash at its end. */
export const serviceUrl = new URL("..", document.baseURI).href.replace(/\/$/, "");
