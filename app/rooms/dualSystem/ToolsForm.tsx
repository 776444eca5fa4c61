/** Which tools System 2's prompt lists; what a network tool sends stands beside its switch. */
import { NativeSelect } from "@mantine/core";
import { SCHOLAR_SOURCES } from "../../../src/worker/researchProtocol";
import { NumberField, SettingsGroup, SwitchField } from "../../components/SettingsGroup";
import { strings } from "../../strings";
import classes from "./CorpusPanel.module.css";
import { LanguageField, SiteConsent } from "./SiteConsent";
import { changedTools, DEFAULTS, LIMITS, type RoomSearch, sitesOf, TOOL_DEFAULTS } from "./search";

const text = strings.dualSystem.tools;

interface ToolsFormProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function ToolsForm(props: ToolsFormProps) {
  const { search, update, disabled } = props;
  const further = search.scholar !== "off" || search.wikipedia;
  return (
    <SettingsGroup
      title={text.title}
      changed={changedTools(search)}
      disabled={disabled}
      onReset={() => update(TOOL_DEFAULTS)}
    >
      <SwitchField
        {...text.search}
        checked={search.search}
        disabled={disabled}
        onChange={(on) => update({ search: on })}
      />
      <SwitchField
        {...text.python}
        checked={search.python}
        disabled={disabled}
        onChange={(on) => update({ python: on })}
      />
      <NativeSelect
        size="xs"
        label={text.scholar.label}
        description={text.scholar.help}
        classNames={{ root: classes.select, label: classes.fieldLabel, description: classes.fieldHelp }}
        inputWrapperOrder={["label", "input", "description"]}
        data={SCHOLAR_SOURCES.map((value) => ({ value, label: text.scholar.sources[value] }))}
        value={search.scholar}
        disabled={disabled}
        onChange={(event) => update({ scholar: event.currentTarget.value as RoomSearch["scholar"] })}
      />
      {search.scholar === "openalex" && search.corpus !== "openalex" && (
        <SiteConsent site="openalex" language={search.language} disabled={disabled} />
      )}
      <SwitchField
        {...text.wikipedia}
        checked={search.wikipedia}
        disabled={disabled}
        onChange={(on) => update({ wikipedia: on })}
      />
      {search.wikipedia && search.corpus !== "wikipedia" && (
        <>
          <LanguageField {...props} />
          <SiteConsent site="wikipedia" language={search.language} disabled={disabled} />
        </>
      )}
      {(sitesOf(search).length > 0 || search.patience !== DEFAULTS.patience) && (
        <NumberField
          {...text.patience}
          value={search.patience}
          limits={LIMITS.patience}
          disabled={disabled}
          onChange={(patience) => update({ patience })}
        />
      )}
      {further && <p className={classes.help}>{text.honest}</p>}
    </SettingsGroup>
  );
}
