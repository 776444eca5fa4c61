/** Why a run stopped by itself: what happened, why, what to do. */
import { ErrorText } from "../../components/ErrorCard";
import { strings } from "../../strings";

export function NotFinite({ detail }: { detail: string }) {
  return <ErrorText {...strings.linkTraining.notices.notFinite} detail={detail} />;
}
